"""The way from one page of a list to the next (RFC 8288)."""

from collections.abc import Mapping
from urllib.parse import urlencode

from flask import request

from web.door import TARGET


def link_to_next(**changes: str | int | None) -> Mapping[str, str]:
    """Headers that name the next page.

    Args:
        changes: what differs from the current request's query; None anywhere means that it is the last page.
    """
    if None in changes.values():
        return {}
    query = urlencode({**request.args.to_dict(), **changes})
    return {"Link": f'<{request.environ[TARGET].path}?{query}>; rel="next"'}
