"""Where the events of a Slack channel come in, when Slack posts them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from channels.adapters.posted import object_in
from channels.adapters.slack.events import arrival_of
from channels.adapters.slack.signature import SCHEME
from channels.files import declined
from channels.inbox import PutMessage
from channels.intake import with_files
from channels.signing import Refusal


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

    def refusal(self, headers: Mapping[str, str], body: bytes) -> Refusal | None:
        """Why a request is not taken for signed by Slack for this app; None if it is."""
        return SCHEME.refusal(self.secret, headers, body)

    def take(self, body: bytes) -> Taken:
        """Store the message of a request that was admitted; a repeat, and what is no message, is passed over.

        Files are not fetched: Slack waits for three seconds. The agent is told of them.

        Raises:
            InvalidMessage: it is none of Slack's; nothing was stored.
            StateError, DependencyError: it can't be stored now; Slack sends it again.
        """
        payload = object_in(body)
        if payload.get("type") == "url_verification":
            return Taken(is_new=False, challenge=str(payload.get("challenge", "")))
        arrival = arrival_of(payload, channel=self.name, bot_id=_bot_of(payload))
        if arrival is None:
            return Taken(is_new=False)
        envelope = with_files(arrival.envelope, declined(arrival.media))
        return Taken(is_new=self.put(envelope, arrival.keys))


def _bot_of(payload: Mapping[str, Any]) -> str:
    """The bot's user id, which comes with every event; empty if it does not."""
    found = payload.get("authorizations")
    for one in found if isinstance(found, list) else ():
        if isinstance(one, Mapping) and one.get("is_bot") and isinstance(one.get("user_id"), str):
            return str(one["user_id"])
    return ""
