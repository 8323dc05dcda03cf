"""What can be wrong with a request, as HTTP callers are told it."""

from typing import ClassVar

from core.errors import DependencyError, InputError


class HostRefused(InputError):
    """The request was addressed to a name that is not ours (DNS rebinding, or a missing setting)."""

    code = "forbidden_host"

    def __init__(self) -> None:
        super().__init__("Invalid Host header")


class OriginRefused(InputError):
    """A page of another origin sent the request."""

    code = "forbidden_origin"

    def __init__(self) -> None:
        super().__init__("Request denied by CORS policy")


class Unauthorized(InputError):
    """No token, or not ours."""

    code = "unauthorized"

    def __init__(self) -> None:
        super().__init__("Unauthorized")


class PayloadTooLarge(InputError):
    """The body, as sent or once inflated, is over the limit."""

    code = "payload_too_large"

    def __init__(self) -> None:
        super().__init__("Request body too large (max 10 MB)")


class UnsupportedMediaType(InputError):
    """The body's charset or content encoding is not known here."""

    code = "unsupported_media_type"


class BodyTimeout(InputError):
    """The body did not arrive; the sender stopped sending."""

    code = "request_timeout"

    def __init__(self) -> None:
        super().__init__("Request body did not arrive in time")


class InvalidContent(InputError):
    """The text to remember is missing, blank or too long."""

    code = "invalid_content"
    default: ClassVar[str] = "`content` must be a non-empty string"


class InvalidContextMode(InputError):
    """The context mode is not one of the two."""

    code = "invalid_context_mode"
    default: ClassVar[str] = '`contextMode` must be "workspace", "clean", or omitted'


class InvalidScope(InputError):
    """The scope is not one of the two; null does not count as omitted."""

    code = "invalid_scope"
    default: ClassVar[str] = '`scope` must be "project", "user", or omitted'


class WorkspaceMismatch(InputError):
    """The selector names no configured workspace.

    Attributes:
        workspace_count: how many workspaces this service serves; None when the
            selector is neither an id nor an absolute path.
    """

    code = "workspace_mismatch"

    def __init__(self, message: str, *, workspace_count: int | None = None) -> None:
        super().__init__(message)
        self.workspace_count = workspace_count


class InvalidClientId(InputError):
    """The client id is malformed or not registered for the workspace.

    Attributes:
        client_id: the id, when it is well-formed.
    """

    code = "invalid_client_id"

    def __init__(self, message: str, *, client_id: str | None = None) -> None:
        super().__init__(message)
        self.client_id = client_id


class RememberTaskNotFound(InputError):
    """No such task for this caller: unknown, evicted, of another kind, workspace or client."""

    code = "remember_task_not_found"

    def __init__(self) -> None:
        super().__init__("Workspace memory remember task not found")


class NotReady(DependencyError):
    """The service can't accept tasks now."""

    code = "not_ready"
