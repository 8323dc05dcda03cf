"""What the agent child is asked for a task."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from core import acp
from core.ids import Kind

APPLY_OF: Final = "applyOf"  # in a task's input: the task whose preview it commits, in place of all else
DRY_RUN: Final = "dryRun"
PURGE: Final = "purge"  # of a forget

_CALLS: Final[Mapping[Kind, tuple[str, type[acp.Wire], type[acp.TaskResult]]]] = MappingProxyType(
    {
        "remember": (acp.REMEMBER, acp.RememberParams, acp.RememberResult),
        "forget": (acp.FORGET, acp.ForgetParams, acp.ForgetResult),
        "dream": (acp.DREAM, acp.DreamParams, acp.DreamResult),
        "undo": (acp.UNDO, acp.UndoParams, acp.TaskResult),
        "import": (acp.IMPORT, acp.ImportParams, acp.ImportResult),
    }
)


def call_of(kind: Kind, task_input: Mapping[str, Any], *, workspace: str) -> acp.MemoryCall:
    """Make the call that runs a task.

    Args:
        task_input: as the client's request was stored.
        workspace: canonical path.
    """
    method, params, result = _CALLS[kind]
    if APPLY_OF in task_input:
        applied = acp.ApplyParams(cwd=workspace, preview=task_input[APPLY_OF])
        return acp.MemoryCall(acp.APPLY, applied, result)
    return acp.MemoryCall(method, params.model_validate({**task_input, "cwd": workspace}), result)


def result_of(kind: Kind, recorded: Mapping[str, Any]) -> acp.TaskResult:
    """Read a result that the memory store has recorded for a task of this kind."""
    return _CALLS[kind][2].model_validate({**recorded, "recovered": True})
