"""Why a task is not accepted."""

from core.errors import StateError


class QueueFull(StateError):
    """The lane holds as many unfinished tasks as it may. Nothing was accepted.

    Attributes:
        retry_after_s: whole seconds after which a place is likely to be free, at least 1.
    """

    code = "remember_queue_full"

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
