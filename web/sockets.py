"""Events as WebSockets on which only we have something to say."""

from collections.abc import Callable
from contextlib import closing
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any, Final
from wsgiref.types import WSGIEnvironment

from flask_sock import Sock  # type: ignore[import-untyped]  # ships no types
from simple_websocket import ConnectionClosed, Server  # type: ignore[import-untyped]  # ships no types
from werkzeug.wrappers import Response

from core.logs import get_logger
from web.admission import AdmittedSource
from web.cursor import EPOCH_HEADER
from web.door import REQUEST_ID, TRACEPARENT, with_house_headers
from web.relay import CLIENT_SOCKET, EventSource, Relay, bound_backlog
from web.wire import Wire

PING_S = 25  # a client that has not answered by the next one is cut off
MAX_MESSAGE_BYTES = 4096  # of what clients say; it is not listened to
SERVER_OPTIONS = {"ping_interval": PING_S, "max_message_size": MAX_MESSAGE_BYTES}
SOCKET_HEADERS: Final = (EPOCH_HEADER, "Upgrade", "Sec-WebSocket-Accept")

OVER = 1000
GOING_AWAY = 1001
POLICY_VIOLATION = 1008
TRY_AGAIN_LATER = 1013

_log = get_logger(__name__)


class Sockets:
    """Turns sources of events into WebSockets; they end with the relay's streams."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._upgrade = _view_of(self._tell)

    def respond(self, source: EventSource, environ: WSGIEnvironment) -> Response:
        """Upgrade the connection of a request that asks for it, tell the events, close both.

        Returns:
            When all is over; the server then closes the connection.
        """
        own = [(EPOCH_HEADER, source.epoch)]
        head = dict(with_house_headers(own, environ[REQUEST_ID], environ[TRACEPARENT]))
        client = environ[CLIENT_SOCKET]
        bound_backlog(client)
        environ[CLIENT_SOCKET] = wire = Wire(client, head=head, on_end=source.interrupt)
        # compression would cost each connection 300 KB, for messages of some hundred bytes
        environ.pop("HTTP_SEC_WEBSOCKET_EXTENSIONS", None)
        with closing(AdmittedSource(source, environ)) as admitted:
            try:
                return self._upgrade(admitted, wire)
            except OSError as error:
                _log.debug("socket_lost", reason=type(error).__name__)
                return Response(status=HTTPStatus.BAD_REQUEST)  # to nobody: it left before it was let in

    def _tell(self, client: Server, source: AdmittedSource, wire: Wire) -> None:
        wire.forget_by(client.input_buffer.clear)
        try:
            client.close(self._relay_to(client, source))
        except ConnectionClosed:
            _log.debug("socket_left")
        except OSError as error:
            _log.debug("socket_lost", reason=type(error).__name__)
        finally:
            wire.finish()

    def _relay_to(self, client: Server, source: AdmittedSource) -> int:
        for envelope in self._relay.follow(source):
            if envelope is not None:
                client.send(envelope.to_json())
            elif not client.connected:
                break
        if source.is_barred:
            return POLICY_VIOLATION
        if source.is_evicted:
            return TRY_AGAIN_LATER
        return GOING_AWAY if self._relay.is_ending else OVER


def _view_of(talk: Callable[..., None]) -> Callable[..., Response]:
    """What flask-sock makes of ``talk``, to be called by the view of a route that is declared as all are."""
    views: list[Callable[..., Response]] = []
    blueprint: Any = SimpleNamespace(route=lambda _rule, **_options: views.append)
    Sock().route("", bp=blueprint)(talk)
    return views[0]
