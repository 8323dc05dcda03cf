"""The opening handshake of a WebSocket (RFC 6455, 4.2.1), checked before anything is promised."""

import base64

from werkzeug.wrappers import Request

from core.errors import InputError
from web.errors import UpgradeRequired

HANDSHAKE_HEADERS = ("Connection", "Upgrade", "Sec-WebSocket-Version", "Sec-WebSocket-Key")
WEBSOCKET_VERSION = "13"
KEY_BYTES = 16


def require_upgrade(request: Request) -> None:
    """Let a request pass that can become a WebSocket.

    Raises:
        UpgradeRequired: it is an ordinary request, or speaks of another version.
        InputError: it has a body, or its key is none.
    """
    if request.method != "GET" or not _asks_for_socket(request):
        raise UpgradeRequired
    if request.content_length or "Transfer-Encoding" in request.headers:
        raise InputError("A request for a WebSocket has no body")
    if not _is_key(request.headers.get("Sec-WebSocket-Key", "")):
        raise InputError(f"`Sec-WebSocket-Key` must be {KEY_BYTES} bytes in base64")


def _asks_for_socket(request: Request) -> bool:
    headers = request.headers
    options = {option.strip().lower() for option in headers.get("Connection", "").split(",")}
    return (
        request.environ.get("SERVER_PROTOCOL") == "HTTP/1.1"
        and "upgrade" in options
        and headers.get("Upgrade", "").lower() == "websocket"
        and headers.get("Sec-WebSocket-Version") == WEBSOCKET_VERSION
    )


def _is_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == KEY_BYTES
    except ValueError:
        return False
