"""What comes with messages: fetched, and saved where the agent can read it."""

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from telegram import Bot
from telegram.error import TelegramError

from channels.adapters.telegram.api import reason_of
from channels.adapters.telegram.deadline import in_time
from channels.adapters.telegram.envelopes import Media
from channels.envelope import Attachment
from channels.sanitizing import path_text
from channels.timers import Timers
from core.logs import get_logger

MAX_FILE_BYTES = 20 * 1024 * 1024  # what Telegram gives to bots
MAX_INLINE_BYTES = 4 * 1024 * 1024
MAX_NAME_BYTES = 128
FETCH_LIMIT_MS = 60_000

TOO_LARGE = "{what} is larger than 20 MB, which is all that Telegram gives to bots, so it was left out."
NOT_FETCHED = "{what} could not be fetched from Telegram, so it was left out. Please send it again."
NOT_SAVED = "{what} can't be taken here, so it was left out."

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was fetched, and what to tell people of the rest."""

    attachments: tuple[Attachment, ...] = ()
    complaints: tuple[str, ...] = ()


class _LeftOut(Exception):
    """Something can't be had; says so to people."""


class Files:
    """Fetches the files of one bot."""

    def __init__(self, bot: Bot, *, folder: Path | None, timers: Timers) -> None:
        """Bind the parts.

        Args:
            folder: absolute; None means that nothing but pictures is taken.
        """
        self._bot = bot
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
                complaints.append(str(reason).format(what=f"“{name}”"))
        return Fetched(tuple(attachments), tuple(complaints))

    async def _attachment(self, media: Media, place: Path) -> Attachment:
        if (media.size or 0) > MAX_FILE_BYTES:
            raise _LeftOut(TOO_LARGE)
        is_inline = media.type == "image" and (media.size or 0) <= MAX_INLINE_BYTES
        if self._folder is None and not is_inline:
            raise _LeftOut(NOT_SAVED)
        content = await self._content(media)
        facts = {"type": media.type, "mime_type": media.mime_type, "file_name": place.name}
        if is_inline:
            return Attachment.model_validate(facts | {"data": base64.b64encode(content).decode()})
        saved = await asyncio.to_thread(self._save, content, place)
        return Attachment.model_validate(facts | {"file_path": str(saved)})

    async def _content(self, media: Media) -> bytes:
        try:
            return await in_time(self._download(media.file_id), FETCH_LIMIT_MS, self._timers)
        except TelegramError as error:
            reason = reason_of(error)
            _log.warning("channel_file_not_fetched", reason=reason)
            raise _LeftOut(TOO_LARGE if "too big" in reason else NOT_FETCHED) from None

    async def _download(self, file_id: str) -> bytes:
        file = await self._bot.get_file(file_id)
        return bytes(await file.download_as_bytearray())

    def _save(self, content: bytes, place: Path) -> Path:
        if self._folder is None:
            raise AssertionError("only who has a folder saves")
        path = self._folder / place
        try:
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
    name = PurePosixPath(path_text(sent or "").replace("\\", "/").strip()).name.strip(" .")
    shown = name.encode()[-MAX_NAME_BYTES:].decode(errors="ignore") or "file"
    return f"{number}-{shown}" if number else shown
