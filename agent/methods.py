"""The one table of the methods that run a task: what they read, what they do, whose tasks they serve."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from agent.direct_tasks import record, snapshot
from agent.dream import dream
from agent.forget import forget
from agent.remember import remember
from agent.requests import (
    parse_apply,
    parse_dream,
    parse_forget,
    parse_import,
    parse_record,
    parse_remember,
    parse_review,
    parse_snapshot,
    parse_undo,
)
from agent.review import review
from agent.store_tasks import apply, import_documents, undo
from agent.task_run import TaskCall, Workplace
from core import acp
from core.ids import Kind

_P = TypeVar("_P", bound=acp.Wire)
_P_co = TypeVar("_P_co", bound=acp.Wire, covariant=True)

Run = Callable[[TaskCall, Workplace], dict[str, Any]]


class Parser(Protocol[_P_co]):
    """Reads the params of one method."""

    def __call__(self, params: dict[str, Any], *, workspace: str) -> _P_co:
        """Parse; raises ``CallRefused``."""
        ...


@dataclass(frozen=True, slots=True)
class TaskMethod(Generic[_P]):
    """A method that runs a task in its turn.

    Attributes:
        name: what it does, as its failures say it.
        kinds: kinds of tasks that may ask for it; a call that names no task is of the first one.
        serve: runs a task; gives the result on the wire.
    """

    name: str
    kinds: tuple[Kind, ...]
    parse: Parser[_P]
    serve: Callable[[_P, TaskCall, Workplace], dict[str, Any]]

    def prepare(self, params: dict[str, Any], *, workspace: str) -> Run:
        """Read the params; what comes back runs the task.

        Raises:
            CallRefused: they don't fit; nothing was started.
        """
        parsed = self.parse(params, workspace=workspace)
        return lambda call, workplace: self.serve(parsed, call, workplace)


_OF_AGENTS: tuple[Kind, ...] = ("remember", "forget", "dream")

TASK_METHODS: Mapping[str, TaskMethod[Any]] = {
    acp.REMEMBER: TaskMethod("remember", ("remember",), parse_remember, remember),
    acp.FORGET: TaskMethod("forget", ("forget",), parse_forget, forget),
    acp.DREAM: TaskMethod("dream", ("dream",), parse_dream, dream),
    acp.UNDO: TaskMethod("undo", ("undo",), parse_undo, undo),
    acp.IMPORT: TaskMethod("import", ("import",), parse_import, import_documents),
    acp.REVIEW: TaskMethod("review", ("review",), parse_review, review),
    acp.APPLY: TaskMethod("apply", _OF_AGENTS, parse_apply, apply),
    acp.SNAPSHOT: TaskMethod("snapshot", _OF_AGENTS, parse_snapshot, snapshot),
    acp.RECORD: TaskMethod("record", _OF_AGENTS, parse_record, record),
}
