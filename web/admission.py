"""What takes long ends when the token that it was asked with is good no more."""

from collections.abc import Callable
from typing import TYPE_CHECKING
from wsgiref.types import WSGIEnvironment

from werkzeug.wrappers import Request

from core.clock import boot_ms
from events.envelope import Envelope
from events.errors import SubscriptionEnded
from web.errors import Unauthorized

if TYPE_CHECKING:
    from web.relay import EventSource

ADMISSION = "memlane.admission"
LOOK_EVERY_MS = 1_000  # a look at each event would cost as much as telling it

IsAdmitted = Callable[[], bool]


class AdmittedSource:
    """A source that ends once its reader would not be let in any more.

    Attributes:
        is_barred: whether that is why it ended.
    """

    def __init__(self, source: "EventSource", environ: WSGIEnvironment) -> None:
        """Take a source and the request for it, which was let in."""
        self._source = source
        self._is_admitted: IsAdmitted = environ[ADMISSION]
        self._look_at_ms = 0
        self.is_barred = False

    @property
    def epoch(self) -> str:
        """Uuid of the log that the ids belong to."""
        return self._source.epoch

    @property
    def is_evicted(self) -> bool:
        """Whether the reader was sent away for being slow."""
        return self._source.is_evicted

    def interrupt(self) -> None:
        """Let ``next`` return soon, on behalf of another thread."""
        self._source.interrupt()

    def next(self, timeout_s: float) -> Envelope | None:
        """Give the next event, or None when there was none within ``timeout_s`` seconds.

        Raises:
            SubscriptionEnded: the token is good no more, as seen within the last second.
            Errors as for the source.
        """
        envelope = self._source.next(timeout_s)
        now_ms = boot_ms()
        if now_ms >= self._look_at_ms:
            self._look_at_ms = now_ms + LOOK_EVERY_MS
            self.is_barred = not self._is_admitted()
        if self.is_barred:
            raise SubscriptionEnded("the reader's token is good no more")
        return envelope

    def close(self) -> None:
        """Give the place up; may be repeated."""
        self._source.close()


def require_admitted(request: Request) -> None:
    """Let a request that has waited go on if it would still be let in.

    Raises:
        Unauthorized: its token is good no more, or not for what it was.
    """
    is_admitted: IsAdmitted = request.environ[ADMISSION]
    if not is_admitted():
        raise Unauthorized
