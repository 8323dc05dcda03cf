"""What chat services post: messages for channels, signed with a secret of the channel's own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from flask import request
from pydantic import SecretStr
from werkzeug.wrappers import Response

from channels.adapters.slack import signature as slack
from channels.adapters.slack.door import SlackDoor
from channels.adapters.webhook.door import WebhookDoor
from channels.adapters.webhook.signature import DELIVERY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER
from channels.errors import InvalidMessage
from core.logs import get_logger
from events.errors import ChannelBacklogFull, StorageFull, StorageUnavailable
from web.answers.channels import Received, SlackReceived
from web.body import read_raw
from web.errors import BodyTimeout, PayloadTooLarge, Unauthorized, UnsupportedMediaType
from web.negotiation import JSON_MEDIA
from web.problems import json_response
from web.route import Route

_log = get_logger(__name__)

HEADERS = (TIMESTAMP_HEADER, DELIVERY_HEADER, SIGNATURE_HEADER)
SLACK_HEADERS = (slack.TIMESTAMP_HEADER, slack.SIGNATURE_HEADER)
STORED = 202
REPEATED = 200

_REFUSALS = (
    *(Unauthorized, PayloadTooLarge, UnsupportedMediaType, BodyTimeout, InvalidMessage),
    *(ChannelBacklogFull, StorageFull, StorageUnavailable),
)


@dataclass(frozen=True, slots=True)
class ChannelDoors:
    """Where messages of channels come in, by the channels' names."""

    webhook: Mapping[str, WebhookDoor] = field(default_factory=dict)
    slack: Mapping[str, SlackDoor] = field(default_factory=dict)


def _put_nothing(_envelope: object, _keys: object) -> bool:
    raise Unauthorized


class ChannelRoutes:
    """``/channels/:channel/…``."""

    def __init__(self, doors: ChannelDoors) -> None:
        """Take the doors of the channels."""
        self._doors = doors
        self._no_webhook = WebhookDoor("", SecretStr(""), _put_nothing)
        self._no_slack = SlackDoor("", SecretStr(""), _put_nothing)

    def routes(self) -> Iterable[Route]:
        """Declare the routes."""
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
            refusals=_REFUSALS,
        )
        yield Route(
            name="receive_slack_event",
            method="POST",
            path="/channels/<channel>/slack/events",
            view=self.receive_from_slack,
            role="signed",
            is_global=True,
            takes=(JSON_MEDIA,),
            reads=SLACK_HEADERS,
            status=STORED,
            repeat_status=REPEATED,
            answer=SlackReceived,
            refusals=_REFUSALS,
        )

    def receive(self, channel: str) -> Response:
        """Store a message for a channel; it is answered by the channel's callback.

        A channel that there isn't and a signature that is wrong are answered alike.
        """
        headers = _headers(HEADERS)
        door = self._doors.webhook.get(unquote(channel), self._no_webhook)
        body = _admitted(door, headers)
        is_new = door.take(headers, body)
        shown = Received(duplicate=not is_new)
        return json_response(shown.to_wire(), status=STORED if is_new else REPEATED)

    def receive_from_slack(self, channel: str) -> Response:
        """Store the message of an event for a channel; it is answered in its chat.

        Events that are no message of a person are passed over. A channel that there isn't and a signature
        that is wrong are answered alike.
        """
        door = self._doors.slack.get(unquote(channel), self._no_slack)
        taken = door.take(_admitted(door, _headers(SLACK_HEADERS)))
        shown = SlackReceived(stored=taken.is_new, challenge=taken.challenge)
        return json_response(shown.to_wire(), status=STORED if taken.is_new else REPEATED)


def _headers(names: Sequence[str]) -> Mapping[str, str]:
    return {name: request.headers.get(name, "") for name in names}


def _admitted(door: WebhookDoor | SlackDoor, headers: Mapping[str, str]) -> bytes:
    """The body of the current request, as it was sent and signed."""
    body = read_raw(request)
    refusal = door.refusal(headers, body)
    if refusal is not None:  # who posted is told none of it
        _log.warning("channel_post_refused", channel=door.name, reason=refusal)
        raise Unauthorized
    if request.mimetype != JSON_MEDIA:
        raise UnsupportedMediaType(f"The body must be {JSON_MEDIA}")
    return body
