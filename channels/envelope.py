"""One message that came in, in the same shape from every chat service."""

from typing import Literal

from channels.shape import Shape

AttachmentType = Literal["image", "file", "audio", "video"]


class Attachment(Shape):
    """Something that came with a message.

    Attributes:
        data: base64, for what goes to the agent inline.
        file_path: absolute, for what was saved.
    """

    type: AttachmentType
    mime_type: str
    data: str | None = None
    file_path: str | None = None
    file_name: str | None = None


class Envelope(Shape):
    """A message and where it came from.

    Attributes:
        sender_id: stable id.
        sender_name: for people, chosen by the sender.
        text: without the mention of the bot.
        thread_id: topic or thread within the chat, None outside of one.
        message_id: the chat service's own, None when it has none.
        is_mentioned: whether the bot is named.
        is_reply_to_bot: whether it answers a message of the bot.
        referenced_text: what it answers.
        image_base64, image_mime_type: a single image, as older adapters hand it over.
        already_prefixed: whether ``text`` names its sender already.
        receipts: stored messages that this one stands for, see ``channels.inbox``; empty when it was never
            stored.
    """

    channel_name: str
    sender_id: str
    sender_name: str
    chat_id: str
    text: str
    thread_id: str | None = None
    message_id: str | None = None
    is_group: bool = False
    is_mentioned: bool = False
    is_reply_to_bot: bool = False
    referenced_text: str | None = None
    attachments: tuple[Attachment, ...] = ()
    image_base64: str | None = None
    image_mime_type: str | None = None
    already_prefixed: bool = False
    receipts: tuple[str, ...] = ()

    @property
    def target(self) -> "Target":
        """Where an answer to it belongs."""
        return Target(
            channel_name=self.channel_name,
            sender_id=self.sender_id,
            chat_id=self.chat_id,
            thread_id=self.thread_id,
        )


class Target(Shape):
    """A place in a chat service where messages are sent to, and for whom.

    Attributes:
        sender_id: whose message it is that is answered there.
        thread_id: topic or thread within the chat, None outside of one.
    """

    channel_name: str
    sender_id: str
    chat_id: str
    thread_id: str | None = None
