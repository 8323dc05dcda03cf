"""What comes with messages: fetched, and saved where the agent can read it."""

import asyncio
import base64
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from channels.arrivals import Media
from channels.envelope import Attachment
from channels.errors import FileNotFetched
from channels.sanitizing import path_text
from channels.timers import Timers, in_time
from core import clock
from core.logs import get_logger
from core.text import encodable

MAX_FILE_BYTES = 20 * 1024 * 1024
MAX_INLINE_BYTES = 4 * 1024 * 1024
MAX_NAME_BYTES = 128
FETCH_LIMIT_MS = 60_000
KEPT_MS = 7 * 24 * 3_600_000

TOO_LARGE = "{what} is larger than 20 MB, which is all that is taken, so it was left out."
NOT_FETCHED = "{what} could not be fetched, so it was left out. Please send it again."
NOT_SAVED = "{what} can't be taken here, so it was left out."

_log = get_logger(__name__)


class FileSource(Protocol):
    """A chat service that gives what comes with messages."""

    async def download(self, media: Media) -> bytes:
        """Get the content of one.

        Raises:
            FileNotFetched: it can't be had.
        """
        ...


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was fetched, and what to tell people of the rest."""

    attachments: tuple[Attachment, ...] = ()
    complaints: tuple[str, ...] = ()


class _LeftOut(Exception):
    """Something can't be had; says so to people."""


class Files:
    """Fetches the files of one bot."""

    def __init__(self, source: FileSource, *, folder: Path | None, timers: Timers) -> None:
        """Bind the parts.

        Args:
            folder: absolute; None means that nothing but pictures is taken.
        """
        self._source = source
        self._folder = folder
        self._timers = timers

    async def fetch(self, media: Sequence[Media], *, message: str) -> Fetched:
        """Fetch what comes with a message; what can't be fetched is left out.

        Args:
            message: names the message's folder.
        """
        attachments, complaints = [], []
        for number, one in enumerate(media):
            name = base_name(one.file_name, number)
            try:
                attachments.append(await self._attachment(one, Path(message, name)))
            except _LeftOut as reason:
                complaints.append(told_of(str(reason), name))
        return Fetched(tuple(attachments), tuple(complaints))

    async def _attachment(self, media: Media, place: Path) -> Attachment:
        if (media.size or 0) > MAX_FILE_BYTES:
            raise _LeftOut(TOO_LARGE)
        is_inline = media.type == "image" and (media.size or 0) <= MAX_INLINE_BYTES
        folder = None if is_inline else self._folder
        if folder is None and not is_inline:
            raise _LeftOut(NOT_SAVED)
        content = await self._content(media)
        facts = {"type": media.type, "mime_type": media.mime_type, "file_name": place.name}
        if folder is None:
            return Attachment.model_validate(facts | {"data": base64.b64encode(content).decode()})
        saved = await asyncio.to_thread(_saved, content, folder, place)
        return Attachment.model_validate(facts | {"file_path": str(saved)})

    async def _content(self, media: Media) -> bytes:
        try:
            return await in_time(self._source.download(media), FETCH_LIMIT_MS, self._timers)
        except (FileNotFetched, TimeoutError) as error:
            is_too_large = isinstance(error, FileNotFetched) and error.is_too_large
            _log.warning("channel_file_not_fetched", reason=str(error) or "no answer in time")
            raise _LeftOut(TOO_LARGE if is_too_large else NOT_FETCHED) from None


def declined(media: Sequence[Media]) -> Fetched:
    """What to tell of files where none can be fetched."""
    names = (base_name(one.file_name, number) for number, one in enumerate(media))
    return Fetched(complaints=tuple(told_of(NOT_SAVED, name) for name in names))


def told_of(complaint: str, name: str) -> str:
    """A complaint about a file, by its name."""
    return complaint.format(what=f"“{name}”")


def remove_old(folder: Path) -> None:
    """Remove the folders of messages that are older than ``KEPT_MS``."""
    for one in folder.iterdir() if folder.exists() else ():
        if clock.wall_ms() - one.stat().st_mtime_ns // 1_000_000 > KEPT_MS:
            shutil.rmtree(one)


def _saved(content: bytes, folder: Path, place: Path) -> Path:
    """Where a file was saved, its owner's alone; what is too old in the folder is removed."""
    path = folder / place
    try:
        remove_old(folder)
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.touch(0o600, exist_ok=False)
        path.write_bytes(content)
    except OSError as error:
        _log.warning("channel_file_not_saved", reason=error.strerror)
        raise _LeftOut(NOT_SAVED) from None
    return path


def base_name(sent: str | None, number: int) -> str:
    """A name to save a file under: the last part of what its sender called it, without what is unsafe.

    Args:
        number: of the file within its message; later ones carry it, so that equal names stay apart.
    """
    name = PurePosixPath(path_text(encodable(sent or "")).replace("\\", "/").strip()).name.strip(" .")
    shown = name.encode()[-MAX_NAME_BYTES:].decode(errors="ignore") or "file"
    return f"{number}-{shown}" if number else shown
