"""What has to go with documents that are forgotten, and what an entry of the journal keeps then; pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.acp import Scope
from core.ids import LaneId, TaskId, workspace_of
from memory.journal import DocumentName, Intent, PlannedChange


@dataclass(frozen=True, slots=True)
class Trace:
    """Which documents an entry of the journal has to do with.

    Attributes:
        changed: those that it changed.
        merged: those of them whose text a dream put into the others.
        shown: those that its result shows in a preview, or names as saying already what it was to remember.
    """

    seq: int
    task: TaskId
    lane: LaneId
    changed: frozenset[DocumentName]
    merged: frozenset[DocumentName]
    shown: frozenset[DocumentName]

    def concerns(self, documents: Collection[DocumentName]) -> bool:
        """Whether one of these documents is in it."""
        return not (self.changed | self.shown).isdisjoint(documents)


def trace(intent: Intent, *, lane: LaneId, roots: Mapping[Scope, str]) -> Trace:
    """Tell which documents an entry has to do with.

    Args:
        lane: of the workspace that forgets.
        roots: of that workspace. What others show of their projects is not told.
    """
    return Trace(
        intent.seq,
        TaskId(intent.task),
        LaneId(intent.lane),
        changed=frozenset(change.name for change in intent.changes),
        merged=frozenset(
            change.name for change in intent.changes if intent.kind == "dream" and change.is_removal
        ),
        shown=frozenset(
            (roots[one["scope"]], one["path"])
            for one in _shown_in(intent.result)
            if one["scope"] == "user" or workspace_of(LaneId(intent.lane)) == workspace_of(lane)
        ),
    )


def _shown_in(result: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    known = result.get("knownAt")
    return [*(result.get("preview") or {}).get("diff", ()), *([known] if known else ())]


def with_sources(
    documents: Collection[DocumentName], oldest_first: Sequence[Trace]
) -> frozenset[DocumentName]:
    """The documents, and those that dreams merged into them: what these said may stand in them now."""
    found = frozenset(documents)
    for entry in reversed(oldest_first):
        if not entry.changed.isdisjoint(found):
            found |= entry.merged
    return found


def without_texts(intent: Intent, is_forgotten: Callable[[PlannedChange], bool]) -> Intent:
    """The intent without the texts of some of its documents, and without what its result quotes of them."""
    changes = tuple(_without_text(change) if is_forgotten(change) else change for change in intent.changes)
    return intent.model_copy(update={"changes": changes, "result": without_quotes(intent.result)})


def without_quotes(result: Mapping[str, Any]) -> dict[str, Any]:
    """A task's result without its summary, its lists of entries, and its preview's diffs; ids and paths stay.

    Which documents the preview showed stays, too: a purge that is done again has to find the task again.
    """
    return {key: _without_quote(key, value) for key, value in result.items()}


def _without_text(change: PlannedChange) -> PlannedChange:
    gone = {"before": None, "new": None, "pruned": True, "removed": change.is_removal}
    return change.model_copy(update=gone)


def _without_quote(key: str, value: Any) -> Any:
    if key == "summary":
        return ""
    if key == "preview":
        return value | {"diff": [one | {"diff": ""} for one in value["diff"]]}
    if isinstance(value, list):
        return [item for item in value if not isinstance(item, dict)]
    return value
