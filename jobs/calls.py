"""What the agent child is asked for a task."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError

from core import acp
from core.ids import Kind
from core.memory_calls import (
    ApplyParams,
    DreamParams,
    DreamResult,
    ForgetParams,
    ForgetResult,
    ImportParams,
    ImportResult,
    MemoryCall,
    RememberParams,
    RememberResult,
    ReviewParams,
    TaskResult,
    UndoParams,
)
from jobs.errors import InvalidTaskInput

APPLY_OF: Final = "applyOf"  # in a task's input: the task whose preview it commits, in place of all else
DRY_RUN: Final = "dryRun"
PURGE: Final = "purge"  # of a forget

_CALLS: Final[Mapping[Kind, tuple[str, type[acp.Wire], type[TaskResult]]]] = MappingProxyType(
    {
        "remember": (acp.REMEMBER, RememberParams, RememberResult),
        "forget": (acp.FORGET, ForgetParams, ForgetResult),
        "dream": (acp.DREAM, DreamParams, DreamResult),
        "undo": (acp.UNDO, UndoParams, TaskResult),
        "import": (acp.IMPORT, ImportParams, ImportResult),
        "review": (acp.REVIEW, ReviewParams, TaskResult),
    }
)


def call_of(kind: Kind, task_input: Mapping[str, Any], *, workspace: str) -> MemoryCall:
    """Make the call that runs a task.

    Args:
        task_input: as the client's request was stored.
        workspace: canonical path.

    Raises:
        InvalidTaskInput: the kind knows no such request.
    """
    method, params, result = _CALLS[kind]
    try:
        if APPLY_OF in task_input:
            applied = ApplyParams(cwd=workspace, preview=task_input[APPLY_OF])
            return MemoryCall(acp.APPLY, applied, result)
        return MemoryCall(method, params.model_validate({**task_input, "cwd": workspace}), result)
    except ValidationError as error:
        raise InvalidTaskInput(f"{kind}: {error.error_count()} field(s) don't fit") from None


def result_of(kind: Kind, recorded: Mapping[str, Any]) -> TaskResult:
    """Read a result that the memory store has recorded for a task of this kind."""
    return _CALLS[kind][2].model_validate({**recorded, "recovered": True})
