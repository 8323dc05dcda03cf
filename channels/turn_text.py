"""What an agent is sent of a message."""

from collections.abc import Iterator
from dataclasses import dataclass

from channels.config import ChannelConfig
from channels.envelope import Attachment, Envelope
from channels.sanitizing import UNKNOWN_NAME, path_text, prompt_text, quoted, sender_name
from core.chat import PromptImage

MAX_QUOTE_CHARACTERS = 500
MAX_FILE_NAME_CHARACTERS = 128


@dataclass(frozen=True, slots=True)
class TurnText:
    """A message as it is prompted."""

    text: str
    images: tuple[PromptImage, ...] = ()


def render_turn(envelope: Envelope, *, config: ChannelConfig, is_recognized: bool) -> TurnText:
    """Render a message.

    Args:
        is_recognized: whether it is a command, of ours or of the agent's, which has to stay as it is.
    """
    text = envelope.text
    is_attributed = envelope.is_group or config.session_scope == "single"
    if is_attributed and not envelope.already_prefixed and not is_recognized:
        text = said_by(envelope)
    if envelope.referenced_text:
        text = f'[Replying to: "{quoted(envelope.referenced_text, MAX_QUOTE_CHARACTERS)}"]\n\n{text}'
    saved = "\n".join(
        _saved_line(one) for one in envelope.attachments if one.file_path and not _is_inline(one)
    )
    return TurnText("\n\n".join(one for one in (text, saved) if one), tuple(_images_of(envelope)))


def said_by(envelope: Envelope) -> str:
    """A message's text on one line, behind the name of who says it; by id when that is no name."""
    name = sender_name(envelope.sender_name)
    if name == UNKNOWN_NAME:
        name = sender_name(envelope.sender_id)
    return f"[{name}] {prompt_text(envelope.text)}"


def _is_inline(attachment: Attachment) -> bool:
    return attachment.type == "image" and bool(attachment.data)


def _images_of(envelope: Envelope) -> Iterator[PromptImage]:
    if envelope.image_base64:
        yield PromptImage(envelope.image_base64, envelope.image_mime_type or "image/png")
    for one in envelope.attachments:
        if one.type == "image" and one.data:
            yield PromptImage(one.data, one.mime_type)


def _saved_line(attachment: Attachment) -> str:
    name = quoted(attachment.file_name, MAX_FILE_NAME_CHARACTERS) if attachment.file_name else ""
    shown = f' "{name}"' if name else ""
    return f"[{attachment.type}{shown} saved to: {path_text(attachment.file_path or '')}]"
