"""Where the events of a Slack channel come in, when Slack posts them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from channels.adapters.slack.events import arrival_of
from channels.adapters.slack.signature import SCHEME
from channels.errors import InvalidMessage
from channels.files import declined
from channels.inbox import PutMessage
from channels.intake import with_files


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of an event.

    Attributes:
        is_new: whether a message was stored.
        challenge: what Slack wants to read back when it tries the address; None otherwise.
    """

    is_new: bool
    challenge: str | None = None


@dataclass(frozen=True, slots=True)
class SlackDoor:
    """Lets in what Slack signed for the app.

    Attributes:
        secret: the app's signing secret.
    """

    name: str
    secret: SecretStr
    put: PutMessage

    def admits(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether Slack signed a request for this app; a secret that is empty admits nothing."""
        return SCHEME.admits(self.secret, headers, body)

    def take(self, body: bytes) -> Taken:
        """Store the message of a request that was admitted; a repeat, and what is no message, is passed over.

        Files are not fetched: Slack waits for three seconds. The agent is told of them.

        Raises:
            InvalidMessage: it is none of Slack's; nothing was stored.
            StateError, DependencyError: it can't be stored now; Slack sends it again.
        """
        payload = _object_in(body)
        if payload.get("type") == "url_verification":
            return Taken(is_new=False, challenge=str(payload.get("challenge", "")))
        arrival = arrival_of(payload, channel=self.name, bot_id=_bot_of(payload))
        if arrival is None:
            return Taken(is_new=False)
        envelope = with_files(arrival.envelope, declined(arrival.media))
        return Taken(is_new=self.put(envelope, arrival.keys))


def _object_in(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidMessage("the body is not JSON") from None
    if not isinstance(found, dict):
        raise InvalidMessage("the body is no object")
    return found


def _bot_of(payload: Mapping[str, Any]) -> str:
    """The bot's user id, which comes with every event; empty if it does not."""
    found = payload.get("authorizations")
    for one in found if isinstance(found, list) else ():
        if isinstance(one, Mapping) and one.get("is_bot") and isinstance(one.get("user_id"), str):
            return str(one["user_id"])
    return ""
