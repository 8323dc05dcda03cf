"""What an entry of the journal keeps when its texts have to go: who, when, where, and no content; pure."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from core.acp import Scope
from memory.journal import Intent, PlannedChange


def without_texts(intent: Intent, is_forgotten: Callable[[PlannedChange], bool]) -> Intent:
    """The intent without the texts of some of its documents, and without what its result quotes of them."""
    changes = tuple(_without_text(change) if is_forgotten(change) else change for change in intent.changes)
    return intent.model_copy(update={"changes": changes, "result": without_quotes(intent.result)})


def without_quotes(result: Mapping[str, Any]) -> dict[str, Any]:
    """A task's result without its summary, its lists of entries, and its preview; ids and paths stay."""
    kept = {key: value for key, value in result.items() if key != "preview"}
    return {key: _without_quote(key, value) for key, value in kept.items()}


def shows_document(result: Mapping[str, Any], documents: Collection[tuple[Scope, str]]) -> bool:
    """Tell whether a result has a preview that shows one of these documents, of whichever workspace."""
    preview = result.get("preview") or {}
    return any((one["scope"], one["path"]) in documents for one in preview.get("diff", ()))


def _without_text(change: PlannedChange) -> PlannedChange:
    return change.model_copy(update={"before": None, "new": None, "pruned": True})


def _without_quote(key: str, value: Any) -> Any:
    if key == "summary":
        return ""
    if isinstance(value, list):
        return [item for item in value if not isinstance(item, dict)]
    return value
