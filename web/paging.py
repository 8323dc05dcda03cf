"""From one page of a listing to the next."""

from collections.abc import Mapping
from urllib.parse import urlencode

from werkzeug.wrappers import Request

from web.door import TARGET


def link_to_next(request: Request, following: Mapping[str, object] | None) -> dict[str, str]:
    """The header that leads to the next page (RFC 8288).

    Args:
        following: what its query string says otherwise than the present one; None when there is none.
    """
    if following is None:
        return {}
    query = urlencode({**request.args.to_dict(), **following})
    return {"Link": f'<{request.environ[TARGET].path}?{query}>; rel="next"'}
