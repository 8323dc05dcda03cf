"""What can be wrong with a request, as HTTP callers are told it."""

from typing import ClassVar

from core.errors import DependencyError, InputError, StateError


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


class Forbidden(InputError):
    """The token is good, but not for this: not its role, or not its workspace."""

    code = "forbidden"

    def __init__(self) -> None:
        super().__init__("This token may not do that")


class PayloadTooLarge(InputError):
    """The body, as sent or once inflated, is over the limit."""

    code = "payload_too_large"

    def __init__(self) -> None:
        super().__init__("Request body too large (max 10 MB)")


class UpgradeRequired(InputError):
    """What is served here is a WebSocket, and the request does not ask for one of our version."""

    code = "upgrade_required"

    def __init__(self) -> None:
        super().__init__("This is served over WebSocket only")


class UnsupportedMediaType(InputError):
    """The body's charset or content encoding is not known here."""

    code = "unsupported_media_type"


class BodyTimeout(InputError):
    """The body did not arrive; the sender stopped sending."""

    code = "request_timeout"

    def __init__(self) -> None:
        super().__init__("Request body did not arrive in time")


class Refusal(InputError):
    """A field of a body is not what it must be."""

    code = "invalid_body"
    field: ClassVar[str]
    default: ClassVar[str]


class InvalidContent(Refusal):
    """The text to remember is missing, blank or too long."""

    code = "invalid_content"
    field = "content"
    default = "`content` must be a non-empty string"


class InvalidQuery(Refusal):
    """What to forget is missing, blank or too long."""

    code = "invalid_query"
    field = "query"
    default = "`query` must be a non-empty string"


class InvalidContextMode(Refusal):
    """The context mode is not one of the two."""

    code = "invalid_context_mode"
    field = "contextMode"
    default = '`contextMode` must be "workspace", "clean", or omitted'


class InvalidScope(Refusal):
    """The scope is not one of the two; null does not count as omitted."""

    code = "invalid_scope"
    field = "scope"
    default = '`scope` must be "project", "user", or omitted'


class InvalidDryRun(Refusal):
    """Whether to try things out only is said by something that is no truth value."""

    code = "invalid_dry_run"
    field = "dryRun"
    default = "`dryRun` must be true, false, or omitted"


class InvalidPurge(Refusal):
    """Whether texts are to go for good is said by something that is no truth value, or of a dry run."""

    code = "invalid_purge"
    field = "purge"
    default = "`purge` must be true, false, or omitted"


class InvalidDecision(Refusal):
    """What becomes of a document that waits is not one of the two."""

    code = "invalid_decision"
    field = "decision"
    default = '`decision` must be "approve" or "reject"'


class InvalidDigest(Refusal):
    """Which text was reviewed is not told by its SHA-256."""

    code = "invalid_sha256"
    field = "sha256"
    default = "`sha256` must be the SHA-256 of the document as it was reviewed, in hex"


class InvalidCwd(Refusal):
    """The folder that a session is asked for is no absolute path; null does not count as omitted."""

    code = "invalid_cwd"
    field = "cwd"
    default = "`cwd` must be a string absolute path when provided"


class InvalidSessionScope(Refusal):
    """Which session is wanted is not one of the two; null does not count as omitted."""

    code = "invalid_session_scope"
    field = "sessionScope"
    default = '`sessionScope` must be "single" or "thread" when provided'


class InvalidMaxQueued(InputError):
    """How far a reader may be behind is no number within the limits."""

    code = "invalid_max_queued"


class WorkspaceMismatch(InputError):
    """What was named is no configured workspace.

    Attributes:
        workspace_count: how many workspaces this service serves; None when the
            selector is neither an id nor an absolute path.
        requested: the folder that a session was asked for.
        bound: folder of the primary workspace, where ``requested`` is told.
    """

    code = "workspace_mismatch"

    def __init__(
        self,
        message: str,
        *,
        workspace_count: int | None = None,
        bound: str | None = None,
        requested: str | None = None,
    ) -> None:
        super().__init__(message)
        self.workspace_count = workspace_count
        self.bound = bound
        self.requested = requested


class InvalidIdempotencyKey(InputError):
    """The key that tells a request sent again from a new one has not its shape."""

    code = "invalid_idempotency_key"

    def __init__(self) -> None:
        super().__init__("`Idempotency-Key` must be 1 to 255 printable ASCII characters")


class NotAcceptable(InputError):
    """The caller takes none of the media types that the route answers with."""

    code = "not_acceptable"

    def __init__(self) -> None:
        super().__init__("Not Acceptable")


class PreconditionFailed(InputError):
    """The resource is not in the state that the caller wants it in."""

    code = "precondition_failed"

    def __init__(self) -> None:
        super().__init__("Precondition Failed")


class TaskNotFound(InputError):
    """No such task for this caller: unknown, evicted, of another kind, workspace or client."""

    code = "task_not_found"
    default: ClassVar[str] = "Workspace memory task not found"

    def __init__(self) -> None:
        super().__init__(self.default)


class RememberTaskNotFound(TaskNotFound):
    """No such remember task."""

    code = "remember_task_not_found"
    default = "Workspace memory remember task not found"


class ForgetTaskNotFound(TaskNotFound):
    """No such forget task."""

    code = "forget_task_not_found"
    default = "Workspace memory forget task not found"


class DreamTaskNotFound(TaskNotFound):
    """No such dream task."""

    code = "dream_task_not_found"
    default = "Workspace memory dream task not found"


class DocumentNotFound(InputError):
    """No such memory document in this workspace."""

    code = "document_not_found"

    def __init__(self) -> None:
        super().__init__("There is no such document in this memory")


class NotUnderReview(StateError):
    """The document does not wait for a review, or is kept by people alone. Nothing was queued."""

    code = "not_under_review"

    def __init__(self) -> None:
        super().__init__("The document does not wait for a review")


class NotReady(DependencyError):
    """The service can't accept tasks now."""

    code = "not_ready"
