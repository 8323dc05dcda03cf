"""Where the messages of a webhook channel come in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, SecretStr, ValidationError

from channels.adapters.posted import object_in
from channels.adapters.webhook.signature import DELIVERY_HEADER, SCHEME
from channels.envelope import Envelope
from channels.errors import InvalidMessage
from channels.inbox import PutMessage
from channels.shape import Shape
from channels.signing import Refusal

MAX_DELIVERY_CHARACTERS = 200
_Id = Annotated[str, Field(min_length=1, max_length=200)]


class InboundMessage(Shape):
    """What is posted: a message and where it came from.

    Attributes:
        sender_id, chat_id: the service's own ids.
        sender_name: for people; the id if it is left out.
        text: what was said.
        thread_id: topic or thread within the chat.
        message_id: by which the message is known again, beside the delivery's id.
        is_group: whether several people take part.
        is_mentioned: whether the agent is spoken to.
        is_reply_to_bot: whether it answers the agent.
        referenced_text: what it answers.
    """

    sender_id: _Id
    chat_id: _Id
    text: Annotated[str, Field(min_length=1, max_length=65_536)]
    sender_name: Annotated[str, Field(max_length=200)] = ""
    thread_id: _Id | None = None
    message_id: _Id | None = None
    is_group: bool = False
    is_mentioned: bool = False
    is_reply_to_bot: bool = False
    referenced_text: Annotated[str, Field(max_length=65_536)] | None = None


@dataclass(frozen=True, slots=True)
class WebhookDoor:
    """Lets in what is signed with the channel's secret."""

    name: str
    secret: SecretStr
    put: PutMessage

    def refusal(self, headers: Mapping[str, str], body: bytes) -> Refusal | None:
        """Why a request is not taken for signed for this channel; None if it is."""
        return SCHEME.refusal(self.secret, headers, body)

    def take(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Store the message of a request that was admitted.

        Returns:
            False for a repeat.

        Raises:
            InvalidMessage: it is none; nothing was stored.
            StateError, DependencyError: it can't be stored now; send it again.
        """
        delivery = headers.get(DELIVERY_HEADER, "")
        if not 0 < len(delivery) <= MAX_DELIVERY_CHARACTERS:
            raise InvalidMessage(f"{DELIVERY_HEADER} must name the delivery, in at most 200 characters")
        message = _message_in(body)
        keys = [f"delivery:{delivery}"]
        if message.message_id is not None:
            keys.append(f"message:{message.chat_id}:{message.message_id}")
        return self.put(self._envelope(message), keys)

    def _envelope(self, message: InboundMessage) -> Envelope:
        said = message.model_dump()
        said["sender_name"] = message.sender_name or message.sender_id
        return Envelope(channel_name=self.name, **said)


def _message_in(body: bytes) -> InboundMessage:
    found = object_in(body)
    try:
        return InboundMessage.model_validate(found, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidMessage(f"{where}: {first['msg']}") from None
