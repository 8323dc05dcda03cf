"""The moment at which a call has to be over."""

from dataclasses import dataclass

from agent.errors import TaskTimeout
from core.clock import boot_ms


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the boot clock, so that a suspended machine does not stretch it.

    Attributes:
        at_ms: milliseconds since boot.
    """

    at_ms: int

    @classmethod
    def after(cls, duration_ms: int) -> "Deadline":
        """The moment ``duration_ms`` milliseconds from now."""
        return cls(boot_ms() + duration_ms)

    def remaining_ms(self) -> int:
        """Milliseconds left, 0 once it has passed."""
        return max(0, self.at_ms - boot_ms())

    def check(self) -> None:
        """Go on only in time.

        Raises:
            TaskTimeout: it has passed.
        """
        if self.remaining_ms() == 0:
            raise TaskTimeout("the deadline passed")
