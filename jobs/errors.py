"""Why a request about tasks is refused. Nothing was changed by any of these."""

from core.errors import ConfigError, InputError, StateError


class QueueFull(StateError):
    """The lane holds as many unfinished tasks as it may.

    Attributes:
        retry_after_s: whole seconds after which a place is likely to be free, at least 1.
    """

    code = "remember_queue_full"

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Overloaded(StateError):
    """The workers are far behind: lanes that have nothing queued are not admitted now.

    Attributes:
        retry_after_s: whole seconds, at least 1.
    """

    code = "overloaded"

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class MemoryUnavailable(StateError):
    """Every live worker says that managed memory can't be used in this workspace."""

    code = "managed_memory_unavailable"


class IdempotencyMismatch(InputError):
    """The idempotency key was used for another request."""

    code = "idempotency_mismatch"


class IdempotencyConflict(StateError):
    """The idempotency key made a task whose record is gone."""

    code = "idempotency_conflict"


class TaskFinished(StateError):
    """The task has ended and can't be cancelled."""

    code = "task_finished"


class RedisUnfit(ConfigError):
    """Redis is set up so that accepted tasks could get lost. The message names the mend."""

    code = "redis_unfit"
