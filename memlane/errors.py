"""What calling the service can raise."""

from core.errors import DependencyError, MemlaneError, StateError


class MemlaneApiError(MemlaneError):
    """The service answered with an error.

    Attributes:
        status: HTTP status code.
        code: the service's own code, such as ``invalid_content``; ``api_error`` if it sent none.
        message: the service's text.
    """

    code = "api_error"

    def __init__(self, message: str, *, status: int, code: str = "api_error") -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code  # type: ignore[misc]  # an answer's code is the service's word, not the class's


class Unauthorized(MemlaneApiError):
    """The token is missing or wrong (401)."""

    code = "api_unauthorized"


class NotFound(MemlaneApiError):
    """No such task for this client, or no such route (404)."""

    code = "api_not_found"


class QueueFull(MemlaneApiError):
    """The lane takes no more tasks for now (429); nothing was accepted.

    Attributes:
        retry_after_s: when to try again, seconds; 1 if the service did not say.
    """

    code = "api_queue_full"

    def __init__(self, message: str, *, status: int, code: str, retry_after_s: float = 1.0) -> None:
        super().__init__(message, status=status, code=code)
        self.retry_after_s = retry_after_s


class Unavailable(MemlaneApiError):
    """The service can't serve now (5xx); a task may or may not have been accepted."""

    code = "api_unavailable"


class Unreachable(DependencyError):
    """No service answered at the address; a request may or may not have arrived."""

    code = "unreachable"


class WaitTimeout(StateError):
    """The task has not ended in the time given; it goes on, so wait again or look later."""

    code = "wait_timeout"
