"""How often a task that is waited for is asked after."""

import httpx2

from core import clock
from memlane.errors import MemlaneApiError
from memlane.patience import Failure

_FIRST_PAUSE_S = 0.05
_SLOWEST_PAUSE_S = 1.0
_LONGEST_HOLD_S = 30  # below the time after which proxies give an idle connection up
_WATCHED_HOLD_S = 1  # the service holds an answer back until the status changes; progress is told in between


class Pace:
    """The pauses of one wait: none where the service holds its answers back, else growing ones."""

    def __init__(self, deadline_ms: int, *, is_watched: bool) -> None:
        """Begin.

        Args:
            deadline_ms: of the boot clock.
            is_watched: whether somebody wants to know of progress, too, and not of the end only.
        """
        self._deadline_ms = deadline_ms
        self._longest_hold_s = _WATCHED_HOLD_S if is_watched else _LONGEST_HOLD_S
        self._pause_s = _FIRST_PAUSE_S

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self._left_s() <= 0

    def pause_s(self) -> float:
        """How long to wait before the next question, seconds."""
        return min(self._pause_s, max(self._left_s(), 0))

    def hold_s(self) -> int:
        """How long the service may hold its answer back, whole seconds; 0 means not at all."""
        return min(self._longest_hold_s, max(int(self._left_s()), 0))

    def answered(self, answer: httpx2.Response, *, is_news: bool) -> None:
        """Note an answer."""
        if is_news or "Preference-Applied" in answer.headers:
            self._pause_s = _FIRST_PAUSE_S
        else:
            self._slow_down()

    def failed(self, failure: Failure) -> None:
        """Note that there was no answer."""
        self._slow_down()
        if isinstance(failure, MemlaneApiError) and failure.retry_after_s is not None:
            self._pause_s = failure.retry_after_s

    def _slow_down(self) -> None:
        self._pause_s = min(self._pause_s * 1.5, _SLOWEST_PAUSE_S)

    def _left_s(self) -> float:
        return (self._deadline_ms - clock.boot_ms()) / 1000
