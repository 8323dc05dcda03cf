"""Shapes of requests and answers: the one source of what is valid and what is shown."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from core.acp import MAX_CONTENT_BYTES, ContextMode, ReviewDecision, Scope, Usage
from core.text import js_trim, utf8_size, well_formed
from web.answers import Absent, Moment, Shown, ShownAs, TaskProgress, TaskResult
from web.errors import (
    InvalidContent,
    InvalidContextMode,
    InvalidCwd,
    InvalidDecision,
    InvalidDigest,
    InvalidDryRun,
    InvalidPurge,
    InvalidQuery,
    InvalidScope,
    InvalidSessionScope,
    Refusal,
)

MAX_PATH_BYTES = 4096  # PATH_MAX: no folder has a longer one


def _normalise(value: Any) -> Any:
    return js_trim(well_formed(value)) if isinstance(value, str) else value


def _checker(refusal: type[Refusal]) -> Callable[[str], str]:
    """Check a text that must say something and fit; ``refusal`` has the words."""

    def check(text: str) -> str:
        if not text:
            raise PydanticCustomError("blank", "{message}", {"message": refusal.default})
        if utf8_size(text) > MAX_CONTENT_BYTES:
            message = f"`{refusal.field}` exceeds the {MAX_CONTENT_BYTES}-byte limit"
            raise PydanticCustomError("too_large", "{message}", {"message": message})
        return text

    return check


def _default_mode(value: Any) -> Any:
    return "workspace" if value is None else value


def _refuse_null(value: Any) -> Any:
    if value is None:
        raise PydanticCustomError("null", "null does not count as omitted")
    return value


def _true_or_absent(value: bool | None) -> bool | None:  # noqa: FBT001 - pydantic's shape
    return value or None


# a character that is not blank as JavaScript sees it; how many bytes it may be JSON Schema can't say
_WORDS: JsonDict = {"pattern": r"[^\s\u0000\uFEFF]"}
Words = Annotated[str, BeforeValidator(_normalise), Field(json_schema_extra=_WORDS)]


class TaskBody(BaseModel):
    """What a request for a task says; unknown fields are ignored."""

    model_config = ConfigDict(
        alias_generator=to_camel, strict=True, frozen=True, extra="ignore", hide_input_in_errors=True
    )

    scope: Annotated[Scope | Absent, BeforeValidator(_refuse_null)] = None
    dry_run: Annotated[bool | None, AfterValidator(_true_or_absent)] = None

    @property
    def mode(self) -> ContextMode | None:
        """The context mode, of a kind that has one."""
        return None

    def to_input(self) -> dict[str, Any]:
        """The part of the task's ACP call that the request decides, and whether it is a dry run."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class RememberBody(TaskBody):
    """What a remember request says.

    Attributes:
        content: what to remember; trimmed as JavaScript does it, at most 65,536 bytes of UTF-8 then.
        context_mode: whether the agent sees the workspace's memory; null counts as left out.
        scope: where it is to be remembered.
        dry_run: change nothing, and show what would change.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"content": "I prefer short answers."}]})

    content: Annotated[Words, AfterValidator(_checker(InvalidContent))]
    context_mode: Annotated[
        ContextMode, BeforeValidator(_default_mode, json_schema_input_type=ContextMode | None)
    ] = "workspace"

    @property
    def mode(self) -> ContextMode:
        """The context mode."""
        return self.context_mode


class ForgetBody(TaskBody):
    """What a forget request says.

    Attributes:
        query: what to forget; trimmed as JavaScript does it, at most 65,536 bytes of UTF-8 then.
        scope: where to look for it; both when it is left out.
        dry_run: change nothing, and show what would change.
        purge: take the texts out of the history, too. It can't be tried out.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"query": "how long answers should be", "scope": "user"}],
            "not": {
                "properties": {"dryRun": {"const": True}, "purge": {"const": True}},
                "required": ["dryRun", "purge"],
            },
        }
    )

    query: Annotated[Words, AfterValidator(_checker(InvalidQuery))]
    purge: Annotated[bool | None, AfterValidator(_true_or_absent)] = None

    @model_validator(mode="after")
    def _purge_is_for_good(self) -> "ForgetBody":
        if self.purge and self.dry_run:
            raise InvalidPurge("`purge` can't be tried out")
        return self


class DreamBody(TaskBody):
    """What a dream request says.

    Attributes:
        scope: which memory to tidy; ``project`` when it is left out.
        dry_run: change nothing, and show what would change.
    """


class ReviewBody(BaseModel):
    """What a person says of a document that waits for a review.

    Attributes:
        sha256: of the document as it was read, so that nobody approves what came after.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", hide_input_in_errors=True)

    decision: ReviewDecision
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise PydanticCustomError(
            "relative", "{message}", {"message": "`cwd` must be an absolute path when provided"}
        )
    if utf8_size(path) > MAX_PATH_BYTES:
        message = f"`cwd` exceeds the {MAX_PATH_BYTES}-byte limit"
        raise PydanticCustomError("too_large", "{message}", {"message": message})
    return path


SessionScope = Literal["single", "thread"]


class SessionBody(BaseModel):
    """Which session is wanted; unknown fields are ignored.

    Attributes:
        cwd: folder of the workspace; absent: of the primary one.
        session_scope: the session that all share, or a new one.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, strict=True, frozen=True, extra="ignore", hide_input_in_errors=True
    )

    cwd: Annotated[
        str | Absent,
        BeforeValidator(_refuse_null),
        AfterValidator(_absolute),
        Field(json_schema_extra={"pattern": "^/", "maxLength": MAX_PATH_BYTES}),
    ] = None
    session_scope: Annotated[SessionScope, BeforeValidator(_refuse_null)] = "single"


_Body = TypeVar("_Body", bound=BaseModel)

# what fields of bodies are refused with, in the order of the checks
REFUSALS: tuple[type[Refusal], ...] = (
    InvalidContent,
    InvalidQuery,
    InvalidContextMode,
    InvalidScope,
    InvalidDryRun,
    InvalidPurge,
    InvalidDecision,
    InvalidDigest,
    InvalidCwd,
    InvalidSessionScope,
)


def parse_body(shape: type[_Body], body: Mapping[str, Any]) -> _Body:
    """Validate the body of a request.

    Raises:
        InvalidContent, InvalidQuery: it is no string, blank, or over 65,536 UTF-8 bytes once trimmed.
        InvalidContextMode: neither of the two modes nor null.
        InvalidScope: neither of the two scopes; null included.
        InvalidDryRun, InvalidPurge: neither true nor false nor null; or both are true.
        InvalidDecision, InvalidDigest: missing, or not what it must be.
        InvalidCwd, InvalidSessionScope: null, or not what it must be.
    """
    try:
        return shape.model_validate(body)
    except ValidationError as error:
        raise _first_refusal(error) from None


def _first_refusal(error: ValidationError) -> Refusal:
    found = {str(one["loc"][0]): one for one in error.errors(include_url=False, include_input=False)}
    refusal = next(refusal for refusal in REFUSALS if refusal.field in found)
    return refusal(found[refusal.field].get("ctx", {}).get("message", refusal.default))


ShownStatus = Literal["queued", "running", "completed", "failed"]
Outcome = Literal["completed", "failed", "cancelled"]


_EXAMPLE: JsonDict = {
    "taskId": "remember-3f0c0d5e-8a0b-4b3f-9d59-0d8e2d9a6c11",
    "status": "completed",
    "createdAt": "2026-01-31T12:00:00.000Z",
    "updatedAt": "2026-01-31T12:00:00.250Z",
    "contextMode": "workspace",
    "result": {
        "summary": "Remembered: I prefer short answers.",
        "filesTouched": ["~/.qwen/memories/user/answers.md"],
        "touchedScopes": ["user"],
    },
    "workspaceId": "0295621f3cf988a7",
    "attempt": 1,
    "startedAt": "2026-01-31T12:00:00.010Z",
    "finishedAt": "2026-01-31T12:00:00.250Z",
    "outcome": "completed",
    "revision": "r1",
}


class TaskError(Shown):
    """Why a task failed: a stable code and its fixed public text."""

    code: str
    message: str


class TaskObject(Shown):
    """A task; ``result`` and ``error`` are null until it has ended, then one of them is left out.

    Attributes:
        created_at, updated_at, started_at, finished_at: RFC 3339, UTC, milliseconds.
        status: one of the contract's four; a cancelled task is ``failed`` with code ``task_cancelled``.
        scope: as it was sent.
        result: once completed.
        error: once failed.
        attempt: runs so far.
        position: place in the lane while queued, 1 is next.
        outcome: how it ended; absent before.
        revision: id of the commit, if memory changed.
        usage: what it cost, as far as that is known.
        cancel_requested: somebody wants it cancelled; it completes all the same if it had committed.
        progress: how far it is, while it runs and once it said so.
        request_id, traceparent: of the request that asked for it.
        retry_of: id of the task whose request it repeats.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    task_id: str
    status: ShownStatus
    created_at: Moment
    updated_at: Moment
    context_mode: str | Absent = None
    scope: str | Absent = None
    result: Annotated[dict[str, Any], ShownAs(TaskResult)] | None = None
    error: TaskError | None = None
    workspace_id: str
    attempt: int
    position: int | Absent = None
    started_at: Moment | Absent = None
    finished_at: Moment | Absent = None
    outcome: Outcome | Absent = None
    revision: str | Absent = None
    usage: Annotated[dict[str, Any], ShownAs(Usage)] | Absent = None
    cancel_requested: Literal[True] | Absent = None
    progress: Annotated[dict[str, Any], ShownAs(TaskProgress)] | Absent = None
    request_id: str | Absent = None
    traceparent: str | Absent = None
    retry_of: str | Absent = None


class TaskPage(Shown):
    """Some tasks, newest first, without their results.

    Attributes:
        next_cursor: what to ask with for older ones; null when there are none.
    """

    tasks: list[TaskObject]
    next_cursor: str | None
