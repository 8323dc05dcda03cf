"""What comes with messages, as Telegram gives it."""

from telegram import Bot
from telegram.error import TelegramError

from channels.adapters.telegram.api import reason_of
from channels.arrivals import Media
from channels.errors import FileNotFetched


class TelegramFiles:
    """A ``FileSource``."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    async def download(self, media: Media) -> bytes:
        """See ``FileSource``."""
        try:
            file = await self._bot.get_file(media.file_id)
            return bytes(await file.download_as_bytearray())
        except TelegramError as error:
            reason = reason_of(error)
            raise FileNotFetched(f"Telegram: {reason}", is_too_large="too big" in reason) from None
