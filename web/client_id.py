"""Who asks: the client id that a request carries."""

from werkzeug.wrappers import Request

from core.ids import ClientId, is_client_id
from web.errors import InvalidClientId

CLIENT_ID_HEADER = "X-Qwen-Client-Id"


def client_id_of(request: Request) -> ClientId | None:
    """Read who asks; None when the request doesn't say, an empty header included.

    Raises:
        InvalidClientId: malformed, or not registered. Ids are given out with sessions, which are not served
            yet, so none is registered.
    """
    given = request.headers.get(CLIENT_ID_HEADER, "")
    if not given:
        return None
    if not is_client_id(given):
        raise InvalidClientId(f"`{CLIENT_ID_HEADER}` must be a non-empty token of 128 characters or fewer")
    raise InvalidClientId(f'Client id "{given}" is not registered for this workspace', client_id=given)
