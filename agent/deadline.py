"""How long a call may go on: until a moment, and until it is called off."""

from dataclasses import dataclass, field, replace

from agent.cancellation import Cancellation
from agent.errors import TaskTimeout
from core.clock import boot_ms


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the boot clock, so that a suspended machine does not stretch it.

    Attributes:
        at_ms: milliseconds since boot.
        cancellation: of the call; shared by every deadline made of this one.
    """

    at_ms: int
    cancellation: Cancellation = field(default_factory=Cancellation, compare=False)

    @classmethod
    def after(cls, duration_ms: int, *, cancellation: Cancellation | None = None) -> "Deadline":
        """The moment ``duration_ms`` milliseconds from now.

        Args:
            cancellation: of the call; None for one that nobody else knows of.
        """
        return cls(boot_ms() + duration_ms, cancellation or Cancellation())

    def within(self, duration_ms: int) -> "Deadline":
        """This deadline, or the moment ``duration_ms`` milliseconds from now if that is earlier."""
        return replace(self, at_ms=min(self.at_ms, boot_ms() + duration_ms))

    def remaining_ms(self) -> int:
        """Milliseconds left, 0 once it has passed; being called off changes nothing in it."""
        return max(0, self.at_ms - boot_ms())

    def check(self) -> None:
        """Go on only in time, and only while the call is wanted.

        Raises:
            TaskCancelled: it was called off.
            TaskTimeout: the moment has passed.
        """
        self.cancellation.check()
        if self.remaining_ms() == 0:
            raise TaskTimeout("the deadline passed")
