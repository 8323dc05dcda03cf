"""What an event of Slack is to the channel."""

from collections.abc import Mapping
from typing import Any

from channels.adapters.slack.mrkdwn import addresses_somebody, spoken
from channels.arrivals import Arrival, Media
from channels.envelope import AttachmentType, Envelope
from core.text import encodable

_KINDS = ("message", "app_mention")
_SUBTYPES = (None, "file_share", "thread_broadcast", "me_message")
_TYPES: Mapping[str, AttachmentType] = {"image": "image", "audio": "audio", "video": "video"}
_IDS = ("channel", "ts", "user")

Event = Mapping[str, Any]


def arrival_of(payload: Mapping[str, Any], *, channel: str, bot_id: str) -> Arrival | None:
    """Read the payload of an event; None for what is no message of a person.

    A message that mentions the bot comes as two events, and each again when Slack got no answer in time: it
    is known by its event and by where and when it was written.

    Args:
        bot_id: the bot's user id; empty when it is not known. A message that mentions anybody in a group is
            none then: Slack tells with an event of its own if it was the bot, which has to be the first.
    """
    event = payload.get("event")
    if not isinstance(event, Mapping) or not _is_said_by_a_person(event, bot_id):
        return None
    written = encodable(str(event.get("text") or ""))
    is_mentioned = event["type"] == "app_mention"
    if not (bot_id or is_mentioned or _is_private(event)) and addresses_somebody(written):
        return None
    text, is_named = spoken(written, bot_id=bot_id)
    is_mentioned = is_mentioned or is_named
    media = _media_of(event)
    if not (text or is_mentioned or media):
        return None
    envelope = Envelope(
        channel_name=channel,
        sender_id=event["user"],
        sender_name=event["user"],
        chat_id=event["channel"],
        text=text,
        thread_id=_thread_of(event),
        message_id=event["ts"],
        is_group=not _is_private(event),
        is_mentioned=is_mentioned,
        is_reply_to_bot=bool(bot_id) and event.get("parent_user_id") == bot_id,
    )
    return Arrival(envelope, media, _keys_of(payload, event))


def _is_said_by_a_person(event: Event, bot_id: str) -> bool:
    return (
        event.get("type") in _KINDS
        and event.get("subtype") in _SUBTYPES
        and all(_id(event.get(key)) for key in _IDS)
        and not (event.get("bot_id") or event.get("edited"))
        and event["user"] != bot_id
    )


def _keys_of(payload: Mapping[str, Any], event: Event) -> tuple[str, ...]:
    by_place = f"slack:message:{event['channel']}:{event['ts']}"
    event_id = _id(payload.get("event_id"))
    return (by_place, f"slack:event:{event_id}") if event_id else (by_place,)


def _is_private(event: Event) -> bool:
    # a mention does not say what it was written in
    return event.get("channel_type") == "im" or event["channel"].startswith("D")


def _thread_of(event: Event) -> str | None:
    """The thread that an answer belongs to: in a channel each message that is in none begins one."""
    thread = _id(event.get("thread_ts"))
    return thread or (None if _is_private(event) else str(event["ts"]))


def _id(value: object) -> str | None:
    """What Slack names something by; None for what can't be that."""
    return value if isinstance(value, str) and value and value.isascii() else None


def _media_of(event: Event) -> tuple[Media, ...]:
    files = event.get("files")
    return tuple(_media(one) for one in files if isinstance(one, Mapping)) if isinstance(files, list) else ()


def _media(file: Mapping[str, Any]) -> Media:
    """A file; one without an address can't be had, which is told when it is fetched."""
    name, size = file.get("name"), file.get("size")
    mime_type = _id(file.get("mimetype")) or "application/octet-stream"
    return Media(
        file_id=_id(file.get("url_private_download")) or _id(file.get("url_private")) or "",
        type=_TYPES.get(mime_type.partition("/")[0], "file"),
        mime_type=mime_type,
        file_name=name if isinstance(name, str) else None,
        size=size if isinstance(size, int) else None,
    )
