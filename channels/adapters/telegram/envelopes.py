"""What a message of Telegram is to the channel."""

from collections.abc import Sequence

from telegram import Message, User
from telegram.constants import ChatType

from channels.adapters.telegram.mentions import spoken
from channels.arrivals import Arrival, Media
from channels.envelope import Envelope
from core.text import encodable

GENERAL_TOPIC = "1"

_GROUPS = (ChatType.GROUP, ChatType.SUPERGROUP)


def arrival_of(messages: Sequence[tuple[int, Message | None]], *, channel: str, bot: User) -> Arrival | None:
    """Read a message, or those of an album as one.

    Args:
        messages: each with the id of its update, at least one; None for an update without a message.

    Returns:
        None when nothing of it is for a channel: posts of channels, what bots write, what Telegram itself
        tells, commands to another bot.
    """
    found = [message for _, message in messages if message is not None and _is_from_people(message)]
    if not found:
        return None
    first = next((one for one in found if one.caption), found[0])
    said = spoken(first, bot=bot)
    media = tuple(one for message in found if (one := media_of(message)) is not None)
    text = said.text or described(first)
    if said.is_for_another or not (text or said.is_mentioned or media):
        return None
    chat_id = str(first.chat.id)
    reply = _answered(first)
    envelope = Envelope(
        channel_name=channel,
        sender_id=_sender_id(first),
        sender_name=encodable(_sender_name(first)),
        chat_id=chat_id,
        text=text,
        thread_id=_thread_id(first),
        message_id=str(first.message_id),
        is_group=first.chat.type in _GROUPS,
        is_mentioned=said.is_mentioned,
        is_reply_to_bot=reply is not None and reply.from_user is not None and reply.from_user.id == bot.id,
        referenced_text=_quoted(first, reply),
    )
    keys = [f"telegram:{bot.id}:update:{update_id}" for update_id, _ in messages]
    keys += [f"telegram:{bot.id}:message:{chat_id}:{one.message_id}" for one in found]
    return Arrival(envelope, media, tuple(keys))


def media_of(message: Message) -> Media | None:
    """What comes with a message; of a picture the largest size."""
    if message.photo:
        photo = message.photo[-1]
        return Media(photo.file_id, "image", "image/jpeg", "photo.jpg", photo.file_size)
    # a moving picture comes as a document, too
    if (moving := message.animation or message.video) is not None:
        return Media(
            moving.file_id, "video", moving.mime_type or "video/mp4", moving.file_name, moving.file_size
        )
    if (file := message.document) is not None:
        mime_type = file.mime_type or "application/octet-stream"
        return Media(file.file_id, "file", mime_type, file.file_name, file.file_size)
    return _recording(message)


def described(message: Message) -> str:
    """What a message shows instead of text, in words; empty for what has none."""
    if message.sticker is not None:
        return message.sticker.emoji or "[sticker]"
    if message.contact is not None:
        return f"[contact: {message.contact.first_name}, {message.contact.phone_number}]"
    if message.location is not None:
        return f"[location: {message.location.latitude}, {message.location.longitude}]"
    return f"[poll: {message.poll.question}]" if message.poll is not None else ""


def _recording(message: Message) -> Media | None:
    if (audio := message.audio) is not None:
        return Media(
            audio.file_id, "audio", audio.mime_type or "audio/mpeg", audio.file_name, audio.file_size
        )
    if (voice := message.voice) is not None:
        return Media(voice.file_id, "audio", voice.mime_type or "audio/ogg", "voice.ogg", voice.file_size)
    if (note := message.video_note) is not None:
        return Media(note.file_id, "video", "video/mp4", "video.mp4", note.file_size)
    return None


def _is_from_people(message: Message) -> bool:
    if message.chat.type == ChatType.CHANNEL or message.is_automatic_forward:
        return False
    if message.sender_chat is not None:  # a group's administrator who stays unnamed; its sender is made up
        return True
    return message.from_user is not None and not message.from_user.is_bot


def _sender_id(message: Message) -> str:
    if message.sender_chat is not None:
        return str(message.sender_chat.id)
    return str(message.from_user.id) if message.from_user is not None else ""


def _sender_name(message: Message) -> str:
    if message.sender_chat is not None:
        return message.author_signature or message.sender_chat.effective_name or ""
    return message.from_user.full_name if message.from_user is not None else ""


def _thread_id(message: Message) -> str | None:
    """The topic; replies outside of topics carry a thread of their own, where nothing can be sent."""
    return str(message.message_thread_id) if message.is_topic_message else None


def _answered(message: Message) -> Message | None:
    """What a message replies to; everything in a topic replies to the topic's beginning."""
    reply = message.reply_to_message
    return None if reply is None or reply.forum_topic_created is not None else reply


def _quoted(message: Message, reply: Message | None) -> str | None:
    if reply is None:
        return None
    chosen = message.quote.text if message.quote is not None else None
    quoted = chosen or reply.text or reply.caption
    return encodable(quoted) if quoted else None
