"""Event subscriptions as WebSockets on which only we have something to say."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from wsgiref.types import WSGIEnvironment

from flask_sock import Sock  # type: ignore[import-untyped]  # ships no types
from simple_websocket import ConnectionClosed, Server  # type: ignore[import-untyped]  # ships no types
from werkzeug.wrappers import Response

from core.logs import get_logger
from events.subscription import Subscription
from web.door import REQUEST_ID
from web.relay import Relay
from web.wire import Wire

PING_S = 25  # a client that has not answered by the next one is cut off
MAX_MESSAGE_BYTES = 4096  # of what clients say; it is not listened to
SERVER_OPTIONS = {"ping_interval": PING_S, "max_message_size": MAX_MESSAGE_BYTES}

GOING_AWAY = 1001
TRY_AGAIN_LATER = 1013

_log = get_logger(__name__)


class Sockets:
    """Turns subscriptions into WebSockets; they end with the relay's streams."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._upgrade = _view_of(self._tell)

    def respond(self, subscription: Subscription, environ: WSGIEnvironment) -> Response:
        """Upgrade the connection of a request that asks for it, tell the events, close.

        Returns:
            When all is over; the server then closes the connection.
        """
        head = {"X-Request-ID": environ[REQUEST_ID], "X-Qwen-Event-Epoch": subscription.epoch}
        wire = Wire(environ["gunicorn.socket"], head=head, on_end=subscription.interrupt)
        environ["gunicorn.socket"] = wire
        # compression would cost each connection 300 KB, for messages of some hundred bytes
        environ.pop("HTTP_SEC_WEBSOCKET_EXTENSIONS", None)
        with subscription:
            return self._upgrade(subscription, wire)

    def _tell(self, client: Server, subscription: Subscription, wire: Wire) -> None:
        wire.forget_by(client.input_buffer.clear)
        try:
            client.close(self._relay_to(client, subscription))
        except ConnectionClosed:
            _log.debug("socket_left")
        except OSError as error:
            _log.debug("socket_lost", reason=type(error).__name__)
        finally:
            wire.finish()

    def _relay_to(self, client: Server, subscription: Subscription) -> int:
        for envelope in self._relay.follow(subscription):
            if envelope is not None:
                client.send(envelope.to_json())
            elif not client.connected:
                break
        return TRY_AGAIN_LATER if subscription.is_evicted else GOING_AWAY


def _view_of(talk: Callable[..., None]) -> Callable[..., Response]:
    """What flask-sock makes of ``talk``, to be called by the view of a route that is declared as all are."""
    views: list[Callable[..., Response]] = []
    blueprint: Any = SimpleNamespace(route=lambda _rule, **_options: views.append)
    Sock().route("", bp=blueprint)(talk)
    return views[0]
