"""Bodies of requests: what they may say, and what each field is refused with."""

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

from core.acp import MAX_CONTENT_BYTES, ContextMode, ReviewDecision, Scope
from core.text import js_trim, utf8_size, well_formed
from web.answers.shown import Absent
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
