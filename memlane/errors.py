"""What calling the service can raise."""

from core.errors import DependencyError, InputError, MemlaneError, StateError


class MemlaneApiError(MemlaneError):
    """The service answered with an error.

    Attributes:
        status: HTTP status code.
        code: the service's own code, such as ``invalid_content``; ``api_error`` if it sent none.
        message: the service's text.
        retry_after_s: when to try again, seconds; None if the service did not say.
    """

    code = "api_error"

    def __init__(
        self, message: str, *, status: int, code: str = "api_error", retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code  # type: ignore[misc]  # an answer's code is the service's word, not the class's
        self.retry_after_s = retry_after_s


class Unauthorized(MemlaneApiError):
    """The token is missing or wrong (401)."""

    code = "api_unauthorized"


class Forbidden(MemlaneApiError):
    """The token is good, but not for this, or the request came by a way that is closed (403)."""

    code = "api_forbidden"


class NotFound(MemlaneApiError):
    """No such task for this client, or no such route (404)."""

    code = "api_not_found"


class Conflict(MemlaneApiError):
    """The request does not fit how things are (409), such as ``task_finished`` or ``memory_conflict``."""

    code = "api_conflict"


class TryLater(MemlaneApiError):
    """The service takes no more of this for now (429); nothing was accepted."""

    code = "api_try_later"


class QueueFull(TryLater):
    """The lane takes no more tasks for now."""

    code = "api_queue_full"


class RateLimited(TryLater):
    """The token's requests came too fast."""

    code = "api_rate_limited"


class Unavailable(MemlaneApiError):
    """The service can't serve now (5xx); a task may or may not have been accepted."""

    code = "api_unavailable"


class Unreachable(DependencyError):
    """No service answered at the address.

    Attributes:
        maybe_arrived: whether the request may have got there all the same, and been accepted.
    """

    code = "unreachable"

    def __init__(self, message: str, *, maybe_arrived: bool = True) -> None:
        super().__init__(message)
        self.maybe_arrived = maybe_arrived


class WaitTimeout(StateError):
    """The task has not ended in the time given; it goes on, so wait again or look later."""

    code = "wait_timeout"


class UnusableKey(InputError):
    """An idempotency key that can't be sent."""

    code = "unusable_key"
