"""Who is named in a message, by its entities: https://core.telegram.org/bots/api#messageentity."""

from collections.abc import Sequence
from dataclasses import dataclass

from telegram import Message, MessageEntity, User


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a message says.

    Attributes:
        text: without the mention of the bot.
        is_mentioned: whether the bot was named.
        is_for_another: whether it is a command to another bot.
    """

    text: str
    is_mentioned: bool = False
    is_for_another: bool = False


@dataclass(frozen=True, slots=True)
class _Span:
    """A piece of UTF-16 text, in bytes."""

    start: int
    end: int


def spoken(message: Message, *, bot: User) -> Spoken:
    """Read a message's text or caption."""
    text = message.text or message.caption or ""
    entities = message.entities if message.text else message.caption_entities
    encoded = text.encode("utf-16-le", "surrogatepass")
    own: list[_Span] = []
    is_for_another = False
    for entity in entities:
        span = _Span(2 * entity.offset, 2 * (entity.offset + entity.length))
        name = _named(entity, _decoded(encoded[span.start : span.end]))
        if _is_bot(entity, name, bot):
            own.append(_mention_in(entity, span, name))
        elif entity.type == MessageEntity.BOT_COMMAND and name and entity.offset == 0:
            is_for_another = True
    return Spoken(_without(encoded, own), bool(own), is_for_another)


def _named(entity: MessageEntity, text: str) -> str:
    """The username in an entity, without its @; empty when there is none."""
    if entity.type == MessageEntity.MENTION:
        return text.removeprefix("@")
    if entity.type == MessageEntity.BOT_COMMAND:
        return text.partition("@")[2]
    return ""


def _is_bot(entity: MessageEntity, name: str, bot: User) -> bool:
    if entity.type == MessageEntity.TEXT_MENTION:
        return entity.user is not None and entity.user.id == bot.id
    return bool(name) and name.lower() == (bot.username or "").lower()


def _mention_in(entity: MessageEntity, span: _Span, name: str) -> _Span:
    """What is cut out: of a command only what follows its name."""
    if entity.type == MessageEntity.BOT_COMMAND:
        return _Span(span.end - 2 * (len(name) + 1), span.end)
    return span


def _without(encoded: bytes, cuts: Sequence[_Span]) -> str:
    text, start = "", 0
    for cut in sorted(cuts, key=lambda one: one.start):
        text = _joined(text, _decoded(encoded[start : cut.start]))
        start = max(start, cut.end)
    return _joined(text, _decoded(encoded[start:])).strip() if cuts else _decoded(encoded)


def _joined(before: str, after: str) -> str:
    """Join what stood around a mention, with one blank between."""
    return before + (after.removeprefix(" ") if before.endswith(" ") else after)


def _decoded(encoded: bytes) -> str:
    return encoded.decode("utf-16-le", "replace")
