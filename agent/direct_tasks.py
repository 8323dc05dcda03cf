"""Tasks that another agent child does, which writes to memory by itself: we look before and record after."""

from typing import Any

from agent.secrecy import shown
from agent.task_run import TaskCall, Workplace
from core.memory_calls import RecordParams, SnapshotParams, SnapshotResult
from core.policies import SecretPolicy
from memory.direct_tasks import DirectTasks
from memory.store import Commit


def snapshot(_params: SnapshotParams, call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Begin the task; see ``memory.direct_tasks.DirectTasks.begin``.

    Raises:
        TaskTimeout: there is no time left for it.
        LeaseLost, TaskClosed, StoreBusy, StoreUnusable: nothing may run.
    """
    call.deadline.check()
    recorded = DirectTasks(workplace.store).begin(call.task, workplace.roots)
    return SnapshotResult(result=recorded).to_wire()


def record(params: RecordParams, call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Commit what the other child has changed, with its result; see ``DirectTasks.record``.

    Of where memory changed the result tells what is found, not what the child says.

    Raises:
        MemlaneError: as for ``DirectTasks.record``; the task is resolved before its end is told.
    """

    def result_of(commit: Commit) -> dict[str, Any]:
        secrets = workplace.policy.secrets
        lists = {name: value for name, value in params.result.items() if isinstance(value, list)}
        found: dict[str, Any] = {
            **{name: [_shown_entry(one, secrets) for one in value] for name, value in lists.items()},
            "summary": shown(str(params.result.get("summary", "")), secrets),
            "touchedScopes": list(commit.touched_scopes),
        }
        if "filesTouched" in params.result:
            found["filesTouched"] = [str(path) for path in commit.files_touched]
        return params.result | found | ({"revision": commit.revision} if commit.revision else {})

    return DirectTasks(workplace.store).record(call.task, workplace.roots, result_of=result_of)


def _shown_entry(entry: Any, secrets: SecretPolicy) -> Any:
    """An entry of a list that a child made, which may quote memory under ``summary``."""
    if isinstance(entry, dict) and isinstance(entry.get("summary"), str):
        return entry | {"summary": shown(entry["summary"], secrets)}
    return entry
