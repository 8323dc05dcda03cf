"""A message as an adapter reads it, before it is taken in."""

from dataclasses import dataclass

from channels.envelope import AttachmentType, Envelope


@dataclass(frozen=True, slots=True)
class Media:
    """Something that comes with a message and can be fetched.

    Attributes:
        file_id: what the chat service gives it for.
        file_name: as its sender called it, which may be anything; None when they did not.
        size: bytes; None when the chat service does not say.
    """

    file_id: str
    type: AttachmentType
    mime_type: str
    file_name: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message before what comes with it was fetched.

    Attributes:
        keys: by each of which it is known again.
    """

    envelope: Envelope
    media: tuple[Media, ...]
    keys: tuple[str, ...]
