"""Why a request about tasks is refused. Nothing was changed by any of these."""

from core.errors import ConfigError, InputError, StateError


class ComeBackLater(StateError):
    """There is no room now.

    Attributes:
        retry_after_s: whole seconds after which there is likely to be some, at least 1.
    """

    code = "come_back_later"

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class QueueFull(ComeBackLater):
    """The lane holds as many unfinished tasks as it may."""

    code = "remember_queue_full"


class Overloaded(ComeBackLater):
    """The workers are far behind: lanes that have nothing queued are not admitted now."""

    code = "overloaded"


class RateLimitExceeded(ComeBackLater):
    """The caller asked for work more often than its token may."""

    code = "rate_limit_exceeded"


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


class TaskNotFinished(StateError):
    """The task has not ended; only the request of one that has is repeated."""

    code = "task_not_finished"


class InputGone(StateError):
    """The request of the task to repeat is not kept any more."""

    code = "input_gone"


class NoPreview(StateError):
    """The task has no preview to apply: it has not completed, was no dry run, or 16 tries have failed."""

    code = "no_preview"


class InvalidTaskInput(InputError):
    """A task's stored request is not one of its kind; the message has nothing of what it says."""

    code = "invalid_task_input"


class RedisUnfit(ConfigError):
    """Redis is set up so that accepted tasks could get lost. The message names the mend."""

    code = "redis_unfit"
