"""Query strings: what they may say, checked by the models that the interface's description shows."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from werkzeug.datastructures import MultiDict

from core.acp import ArchiveFormat, ConflictPolicy, Scope
from core.errors import InputError
from core.ids import Kind
from events.subscription import LAG_LIMITS, MAX_LAG
from jobs.audit import ActOutcome
from jobs.tasks import STATUSES, Status
from web.answers.shown import Absent
from web.answers.tasks import Outcome, ShownStatus
from web.errors import InvalidMaxQueued, InvalidScope

MAX_NUMBER_DIGITS = 9
MAX_TEXT_CHARS = 1_000


def _read_whole(value: Any) -> int:
    if value.isascii() and value.isdigit() and len(value) <= MAX_NUMBER_DIGITS:
        return int(value)
    raise ValueError


WHOLE = BeforeValidator(_read_whole)
SearchWords = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TEXT_CHARS),
    Field(json_schema_extra={"pattern": r"\S"}),  # what is left once stripped must have a character
]


class Query(BaseModel):
    """What a query string says; unknown names are ignored, of a name that comes twice the first counts."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class ScopedQuery(Query):
    """A query about memories.

    Attributes:
        scope: of which memory; both when it is left out.
    """

    scope: Scope | Absent = None

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes that are wanted."""
        return get_args(Scope) if self.scope is None else (self.scope,)


class DocumentsQuery(ScopedQuery):
    """Which documents to list.

    Attributes:
        limit: how many at most.
        review: ``waiting`` for those that wait for a person only.
        cursor: ``nextCursor`` of the page before.
    """

    limit: Annotated[int, Field(ge=1, le=1_000), WHOLE] = 200
    review: Literal["any", "waiting"] = "any"
    cursor: str = ""


class SearchQuery(ScopedQuery):
    """What to search for.

    Attributes:
        q: words, in any script.
        limit: how many hits at most.
    """

    q: SearchWords
    limit: Annotated[int, Field(ge=1, le=100), WHOLE] = 20


class RevisionsQuery(Query):
    """Which revisions to list.

    Attributes:
        limit: how many at most.
        before: id of a revision: only older ones.
        scope: of which memory the document at ``path`` is, without which it is ignored.
        path: of one document, relative to its scope, which has to be named: only revisions that changed it.
    """

    limit: Annotated[int, Field(ge=1, le=200), WHOLE] = 50
    before: str | Absent = None
    scope: Scope | Absent = None
    path: str | Absent = None

    @model_validator(mode="after")
    def _path_needs_its_scope(self) -> "RevisionsQuery":
        if self.path is not None and self.scope is None:
            raise InvalidScope(InvalidScope.default)
        return self


class TasksQuery(Query):
    """Which tasks to list.

    Attributes:
        limit: how many at most.
        kind: of one kind only.
        status: as tasks show it; ``failed`` includes those that were cancelled.
        outcome: only those that ended so.
        cursor: ``nextCursor`` of the page before.
    """

    limit: Annotated[int, Field(ge=1, le=200), WHOLE] = 50
    kind: Kind | Absent = None
    status: ShownStatus | Absent = None
    outcome: Outcome | Absent = None
    cursor: Annotated[int, Field(ge=1, le=999_999_999), WHOLE] | Absent = None

    @property
    def statuses(self) -> frozenset[Status]:
        """Statuses that records of such tasks have."""
        shown: frozenset[Status] = STATUSES if self.status is None else _RECORDED[self.status]
        return shown if self.outcome is None else shown & {self.outcome}


class ExportQuery(ScopedQuery):
    """What to export, and how.

    Attributes:
        format: of the archive.
    """

    format: ArchiveFormat = "tar.gz"


class ImportQuery(Query):
    """How to import.

    Attributes:
        conflict: what to do with documents that exist with other bytes.
    """

    conflict: ConflictPolicy = "fail"


class AuditQuery(Query):
    """Which acts to list.

    Attributes:
        limit: how many at most.
        outcome: those that were done, or those that were refused.
        cursor: ``nextCursor`` of the page before.
    """

    limit: Annotated[int, Field(ge=1, le=200), WHOLE] = 50
    outcome: ActOutcome = "done"
    cursor: Annotated[
        str | Absent, Field(json_schema_extra={"pattern": r"^[1-9][0-9]{0,14}-[0-9]{1,15}$"})
    ] = None


_RECORDED: Final[Mapping[ShownStatus, frozenset[Status]]] = {
    "queued": frozenset({"queued"}),
    "running": frozenset({"running"}),
    "completed": frozenset({"completed"}),
    "failed": frozenset({"failed", "cancelled"}),
}


class SocketQuery(Query):
    """Where to start, for clients that can't set headers. What is no number of an event counts as absent.

    Attributes:
        last_event_id: as the header ``Last-Event-ID``, which it goes before.
        epoch: as the header ``X-Qwen-Event-Epoch``, which it goes before.
    """

    last_event_id: str | Absent = Field(None, alias="lastEventId")
    epoch: str | Absent = None


def _read_max_queued(value: Any) -> int:
    if not (value.isascii() and value.isdigit()):
        raise InvalidMaxQueued("`maxQueued` must be a decimal integer")
    number = int(value) if len(value) <= MAX_NUMBER_DIGITS else LAG_LIMITS.stop
    if number not in LAG_LIMITS:
        raise InvalidMaxQueued(f"`maxQueued` must be in [{LAG_LIMITS.start}, {LAG_LIMITS.stop - 1}]")
    return number


class SessionStreamQuery(Query):
    """How to stream what a session hears.

    Attributes:
        max_queued: events that the reader may be behind before it is sent away.
    """

    max_queued: Annotated[
        int,
        Field(alias="maxQueued", ge=LAG_LIMITS.start, lt=LAG_LIMITS.stop),
        BeforeValidator(_read_max_queued),
    ] = MAX_LAG


class SessionSocketQuery(SessionStreamQuery, SocketQuery):
    """How to tell over WebSocket what a session hears, and from where on."""


_Query = TypeVar("_Query", bound=Query)


def parse_query(shape: type[_Query], query: MultiDict[str, str]) -> _Query:
    """Validate a query string.

    Raises:
        InvalidScope: ``scope`` is neither of the two.
        InvalidMaxQueued: ``maxQueued`` is no whole number from 16 to 2048.
        InputError: another field is not what it must be; the message says what that is.
    """
    try:
        return shape.model_validate(query.to_dict())
    except ValidationError as error:
        name = str(error.errors(include_url=False, include_input=False)[0]["loc"][0])
        raise _refusal(name, shape.model_json_schema()["properties"][name]) from None


def scope_of(text: str) -> Scope:
    """Read a scope.

    Raises:
        InvalidScope: it is neither of the two.
    """
    for scope in get_args(Scope):
        if scope == text:
            known: Scope = scope
            return known
    raise InvalidScope(InvalidScope.default)


def _refusal(name: str, rule: dict[str, Any]) -> InputError:
    if name == InvalidScope.field:
        return InvalidScope(InvalidScope.default)
    match rule:
        case {"type": "integer", "minimum": least, "maximum": most}:
            must = f"a whole number from {least} to {most}"
        case {"enum": words}:
            must = f"one of {', '.join(words)}"
        case _:
            must = f"a text of 1 to {rule.get('maxLength', MAX_TEXT_CHARS)} characters"
    return InputError(f"`{name}` must be {must}")
