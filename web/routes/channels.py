"""What chat services post: messages for channels, signed with a secret of the channel's own."""

from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from flask import request
from pydantic import SecretStr
from werkzeug.wrappers import Response

from channels.adapters.webhook.door import InvalidMessage, WebhookDoor
from channels.adapters.webhook.signature import DELIVERY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER
from events.errors import ChannelBacklogFull, StorageFull, StorageUnavailable
from web.answers.channels import Received
from web.body import read_raw
from web.errors import BodyTimeout, PayloadTooLarge, Unauthorized, UnsupportedMediaType
from web.negotiation import JSON_MEDIA
from web.problems import json_response
from web.route import Route

HEADERS = (TIMESTAMP_HEADER, DELIVERY_HEADER, SIGNATURE_HEADER)
STORED = 202
REPEATED = 200


def _put_nothing(_envelope: object, _keys: object) -> bool:
    raise Unauthorized


class ChannelRoutes:
    """``/channels/:channel/inbound``."""

    def __init__(self, doors: Mapping[str, WebhookDoor]) -> None:
        """Take the doors of the channels, by name."""
        self._doors = doors
        self._nobody = WebhookDoor("", SecretStr(""), _put_nothing)

    def routes(self) -> Iterable[Route]:
        """Declare the one route."""
        yield Route(
            name="receive_message",
            method="POST",
            path="/channels/<channel>/inbound",
            view=self.receive,
            role="signed",
            is_global=True,
            takes=(JSON_MEDIA,),
            reads=HEADERS,
            status=STORED,
            repeat_status=REPEATED,
            answer=Received,
            refusals=(
                *(Unauthorized, PayloadTooLarge, UnsupportedMediaType, BodyTimeout, InvalidMessage),
                *(ChannelBacklogFull, StorageFull, StorageUnavailable),
            ),
        )

    def receive(self, channel: str) -> Response:
        """Store a message for a channel; it is answered by the channel's callback.

        A channel that there isn't and a signature that is wrong are answered alike.
        """
        body = read_raw(request)
        door = self._doors.get(unquote(channel), self._nobody)
        headers = {name: request.headers.get(name, "") for name in HEADERS}
        if not door.admits(headers, body):
            raise Unauthorized
        if request.mimetype != JSON_MEDIA:
            raise UnsupportedMediaType(f"The body must be {JSON_MEDIA}")
        is_new = door.take(headers, body)
        shown = Received(duplicate=not is_new)
        return json_response(shown.to_wire(), status=STORED if is_new else REPEATED)
