"""The client of Telegram's Bot API: what it answers, and how it refuses."""

import json
from typing import Any

from telegram import Bot, Update
from telegram.error import TelegramError
from telegram.request import HTTPXRequest

from channels.adapters.telegram.options import TelegramOptions

SEND_TIMEOUT_S = 20.0
CONNECT_TIMEOUT_S = 10.0
POLL_GRACE_S = 10.0

# what the client raises for an update of a shape that it does not know
_UNREADABLE = (TypeError, KeyError, ValueError, AttributeError, OverflowError, OSError)


class ApiRefused(TelegramError):
    """Telegram answered with an error.

    Attributes:
        status: of HTTP.
        description: in Telegram's words; holds nothing secret.
        retry_after_s: how long it wants to be left alone, seconds; None when it did not say.
        moved_to: id of the supergroup that the chat has become; None when it has not.
    """

    def __init__(
        self,
        status: int,
        description: str,
        *,
        retry_after_s: float | None = None,
        moved_to: str | None = None,
    ) -> None:
        super().__init__(f"{status} {description}".strip())
        self.status = status
        self.description = description
        self.retry_after_s = retry_after_s
        self.moved_to = moved_to


class BotRequest(HTTPXRequest):
    """Requests that tell exactly how they were refused, and log no content."""

    async def do_request(self, *arguments: Any, **options: Any) -> tuple[int, bytes]:
        """Make a request.

        Raises:
            ApiRefused: there was an answer, and it was an error.
            TelegramError: there was none.
        """
        status, payload = await super().do_request(*arguments, **options)
        if not 200 <= status < 300:
            raise _refusal(status, payload)
        return status, payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Read an answer.

        Raises:
            TelegramError: it is none of Telegram's.
        """
        answer = _object(payload)
        if "result" not in answer:
            raise TelegramError("an answer that is not Telegram's")
        return answer


class PollRequest(BotRequest):
    """Polls of which one update that can't be read does not spoil the others, now and ever after."""

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Read an answer; an update that can't be read is one without content."""
        answer = BotRequest.parse_json_payload(payload)
        updates = answer["result"]
        if not isinstance(updates, list):
            return answer
        return answer | {"result": [_readable(one) for one in updates if _has_id(one)]}


class ApiBot(Bot):
    """The client; sends at once, without being initialized."""

    async def close_requests(self) -> None:
        """Close its connections."""
        polls, others = self._request
        await polls.shutdown()
        await others.shutdown()


def open_bot(token: str, options: TelegramOptions) -> ApiBot:
    """Make the client; nothing is connected yet."""
    base = options.api_url.rstrip("/")
    limits: dict[str, Any] = {"connect_timeout": CONNECT_TIMEOUT_S, "proxy": options.proxy}
    return ApiBot(
        token,
        base_url=f"{base}/bot",
        base_file_url=f"{base}/file/bot",
        request=BotRequest(read_timeout=SEND_TIMEOUT_S, write_timeout=SEND_TIMEOUT_S, **limits),
        get_updates_request=PollRequest(connection_pool_size=1, read_timeout=POLL_GRACE_S, **limits),
    )


def reason_of(error: TelegramError) -> str:
    """What went wrong, for people: no address and no token in it."""
    if isinstance(error, ApiRefused):
        return str(error)
    cause = error.__cause__
    return f"no answer ({type(cause).__name__})" if cause is not None else "no answer"


def _refusal(status: int, payload: bytes) -> ApiRefused:
    try:
        answer = _object(payload)
    except TelegramError:
        return ApiRefused(status, "")
    parameters = answer.get("parameters")
    facts = parameters if isinstance(parameters, dict) else {}
    retry_after, moved_to = facts.get("retry_after"), facts.get("migrate_to_chat_id")
    return ApiRefused(
        status,
        str(answer.get("description") or ""),
        retry_after_s=float(retry_after) if isinstance(retry_after, int | float) else None,
        moved_to=str(moved_to) if moved_to else None,
    )


def _object(payload: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(payload)
    except (ValueError, RecursionError):
        raise TelegramError("an answer that is not JSON") from None
    if not isinstance(answer, dict):
        raise TelegramError("an answer that is not an object")
    return answer


def _has_id(update: object) -> bool:
    return isinstance(update, dict) and isinstance(update.get("update_id"), int)


def _readable(update: dict[str, Any]) -> dict[str, Any]:
    try:
        Update.de_json(dict(update), None)
    except _UNREADABLE:
        return {"update_id": update["update_id"]}
    return update
