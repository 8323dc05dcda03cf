"""From one page of a listing to the next."""

from collections.abc import Mapping
from urllib.parse import urlencode

from werkzeug.wrappers import Request

from web.door import TARGET


def link_to_next(request: Request, cursor: str | None, **stated: int) -> dict[str, str]:
    """The header that leads to the next page (RFC 8288).

    Args:
        cursor: where that page starts; None when there is none.
        stated: what its query string says whether the present one does or not.
    """
    return _link(request, {**stated, "cursor": cursor}) if cursor is not None else {}


def link_to_older(request: Request, before: str | None) -> dict[str, str]:
    """The same for listings whose cursor is the id of what they showed last, in ``before``."""
    return _link(request, {"before": before}) if before is not None else {}


def _link(request: Request, following: Mapping[str, object]) -> dict[str, str]:
    query = urlencode({**request.args.to_dict(), **following})
    return {"Link": f'<{request.environ[TARGET].path}?{query}>; rel="next"'}
