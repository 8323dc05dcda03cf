"""How long to wait after a poll that failed."""

from dataclasses import dataclass, replace
from typing import Literal

from telegram.error import TelegramError

from channels.adapters.telegram.api import ApiRefused, reason_of
from channels.timers import backoff_ms

FaultKind = Literal["token", "conflict", "throttled", "other"]

FIRST_CONFLICT_PAUSE_MS = 5_000


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a poll failed.

    Attributes:
        kind: ``token`` will not get better, ``conflict`` is another poll of the same bot.
        reason: for people.
        retry_after_ms: what Telegram asks for, milliseconds; 0 when it asks for nothing.
    """

    kind: FaultKind
    reason: str
    retry_after_ms: int = 0


def fault_of(error: TelegramError) -> Fault:
    """What a failure means."""
    if not isinstance(error, ApiRefused):
        return Fault("other", reason_of(error))
    kinds: dict[int, FaultKind] = {401: "token", 404: "token", 409: "conflict", 429: "throttled"}
    retry_after_ms = round((error.retry_after_s or 0) * 1000)
    return Fault(kinds.get(error.status, "other"), reason_of(error), retry_after_ms)


@dataclass(frozen=True, slots=True)
class Backoff:
    """Failures since a poll returned last."""

    conflicts: int = 0
    others: int = 0

    def after(self, fault: Fault) -> "Backoff":
        """Count one more."""
        if fault.kind == "conflict":
            return replace(self, conflicts=self.conflicts + 1)
        return replace(self, others=self.others + 1)

    def pause_ms(self, fault: Fault, *, poll_timeout_s: int, jitter: float) -> int:
        """How long to wait, given that this fault was counted last.

        After a conflict at last longer than Telegram holds a poll: by then a poll that nobody reads any more
        has ended, whoever began it.

        Args:
            jitter: from 0 to 1, which keeps processes apart that failed together.
        """
        if fault.retry_after_ms:
            return fault.retry_after_ms
        if fault.kind == "conflict":
            longest_ms = max(FIRST_CONFLICT_PAUSE_MS, (poll_timeout_s + 1) * 1000)
            return min(FIRST_CONFLICT_PAUSE_MS << min(self.conflicts - 1, 10), longest_ms)
        return backoff_ms(self.others, jitter=jitter)
