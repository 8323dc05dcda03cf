"""Tasks on a real store, in this process, with faults that a child can't be given."""

import errno
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.deadline import Deadline
from agent.errors import TaskCancelled, TaskTimeout
from agent.models.interface import Message, Reply, ToolCall, ToolSpec
from agent.task_run import COMMIT_RESERVE_MS, TaskCall
from core.acp import AGENT_TIMEOUT_MS, BRIDGE_TIMEOUT_MS, Usage
from memory.errors import CommitConflict, StoreBusy
from memory.lock import HOLD_MS, WAIT_MS
from memory.store import open_store
from tests.support.calling_model import CallingModel, wait_for
from tests.support.edited_meanwhile import EditedMeanwhile
from tests.support.scripted_model import document
from tests.support.task_memory import TaskMemory, task_call


class EditedModel:
    """A model whose document somebody edits meanwhile."""

    name = "edited"

    def __init__(self, path: Path, *, edits: int) -> None:
        self._script = EditedMeanwhile(path, edits=edits)
        self.calls = 0

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        self.calls += 1
        name, arguments = self._script.next_call(sum(message.role == "assistant" for message in messages))
        return Reply("", (ToolCall("1", name, json.dumps(arguments)),), Usage(model_calls=1))


def test_a_failure_after_the_commit_point_still_gives_the_result(memory: TaskMemory) -> None:
    memory.store = open_store(memory.base, checkpoint=busy_at("applied"))

    result = memory.remember()

    assert result["revision"] == "r1"
    assert (memory.roots.user / "user/prefers-tea.md").exists()


def test_a_failure_before_the_commit_point_is_reported(memory: TaskMemory) -> None:
    memory.store = open_store(memory.base, checkpoint=busy_at("planned"))
    call = task_call("remember")

    with pytest.raises(StoreBusy):
        memory.remember(call=call)

    assert open_store(memory.base).resolve(call.task, close=True) is None
    assert list(memory.roots.user.rglob("*.md")) == []


@pytest.mark.parametrize("step", ["planned", "journal durable"])
def test_a_store_that_vanishes_during_the_commit_hands_the_task_back_until_it_can_tell(
    memory: TaskMemory, step: str
) -> None:
    call, elsewhere = task_call("remember"), memory.base.with_name("elsewhere")

    def vanish(reached: str) -> None:
        if reached == step:
            memory.base.rename(elsewhere)
            raise OSError(errno.EIO, "gone")

    memory.store = open_store(memory.base, checkpoint=vanish)
    with pytest.raises(StoreBusy):
        memory.remember(call=call)

    elsewhere.rename(memory.base)
    memory.store = open_store(memory.base)
    assert memory.remember(call=call)["recovered"] is (step == "journal durable")


def test_a_conflict_runs_the_agent_again_on_what_is_there_now(memory: TaskMemory) -> None:
    model = EditedModel(memory.roots.user / "a.md", edits=1)
    memory.use(model)

    result = memory.remember()

    assert result["usage"]["modelCalls"] == model.calls == 2 * 3
    assert "Ours." in (memory.roots.user / "a.md").read_text()


def test_a_conflict_is_given_up_after_three_more_runs(memory: TaskMemory) -> None:
    model = EditedModel(memory.roots.user / "a.md", edits=9)
    memory.use(model)

    with pytest.raises(CommitConflict):
        memory.remember()

    assert model.calls == 4 * 3
    assert "Edited by a person" in (memory.roots.user / "a.md").read_text()


def test_a_conflict_with_little_time_left_is_given_up_at_once(memory: TaskMemory) -> None:
    model = EditedModel(memory.roots.user / "a.md", edits=9)
    memory.use(model)

    with pytest.raises(CommitConflict):
        memory.remember(call=task_call("remember", time_ms=50_000))

    assert model.calls == 3


def test_a_run_that_ends_too_late_for_the_lock_commits_nothing(memory: TaskMemory) -> None:
    call = task_call("remember")
    late = TaskCall(call.task, Deadline.after(0))

    with pytest.raises(TaskTimeout):
        memory.remember(call=late)
    assert memory.store.resolve(call.task, close=True) is None


def test_a_deadline_that_passes_during_the_last_write_commits_nothing(memory: TaskMemory) -> None:
    call = task_call("remember", time_ms=1_500)
    path = str(memory.roots.user / "a.md")
    write = ("write_file", {"file_path": path, "content": document()})
    memory.use(CallingModel([write], until=call.deadline))

    with pytest.raises(TaskTimeout):
        memory.remember(call=call)
    assert not Path(path).exists()


def test_a_task_that_is_called_off_between_turns_commits_nothing(memory: TaskMemory) -> None:
    call = task_call("remember")
    path = str(memory.roots.user / "a.md")
    write = ("write_file", {"file_path": path, "content": document()})
    memory.use(CallingModel([write], meanwhile=[lambda: call.deadline.cancellation.set("task")]))

    with pytest.raises(TaskCancelled):
        memory.remember(call=call)
    assert not Path(path).exists()
    memory.use(CallingModel([write]))
    assert memory.remember(call=TaskCall(call.task, Deadline.after(60_000)))["revision"] == "r1"


def test_a_task_that_is_called_off_while_it_waits_for_the_lock_commits_nothing(
    memory: TaskMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, commit = task_call("remember"), memory.store.commit

    def commit_late(*given: Any, **named: Any) -> Any:
        call.deadline.cancellation.set("task")
        return commit(*given, **named)

    monkeypatch.setattr(memory.store, "commit", commit_late)

    with pytest.raises(TaskCancelled):
        memory.remember(call=call)
    assert memory.store.resolve(call.task, close=False) is None
    assert list(memory.roots.user.rglob("*.md")) == []


def test_a_task_that_is_called_off_after_its_commit_point_gives_its_result(memory: TaskMemory) -> None:
    call = task_call("remember")
    memory.store = open_store(memory.base, checkpoint=called_off_at("planned", call))

    assert memory.remember(call=call)["revision"] == "r1"


def test_a_commit_whose_placing_failed_is_the_tasks_answer(memory: TaskMemory) -> None:
    call = task_call("remember", time_ms=1_500)
    memory.store = open_store(memory.base, checkpoint=busy_at("applied", until=call.deadline))

    result = memory.remember(call=call)

    assert result["revision"] == "r1"
    recorded = open_store(memory.base).resolve(call.task, close=True)
    assert recorded is not None
    assert recorded["revision"] == "r1"


def test_the_longest_commit_is_over_before_the_bridge_gives_up() -> None:
    latest_begin_ms = AGENT_TIMEOUT_MS - COMMIT_RESERVE_MS

    assert latest_begin_ms + WAIT_MS + HOLD_MS < BRIDGE_TIMEOUT_MS


def busy_at(step: str, *, until: Deadline | None = None) -> Callable[[str], None]:
    """A checkpoint that fails as a lock held for too long does, the first time that a step is reached."""
    left = [step]

    def checkpoint(reached: str) -> None:
        if reached in left:
            left.remove(reached)
            wait_for(until)
            raise StoreBusy("the lock was held too long")

    return checkpoint


def called_off_at(step: str, call: TaskCall) -> Callable[[str], None]:
    """A checkpoint at which the task is called off."""

    def checkpoint(reached: str) -> None:
        if reached == step:
            call.deadline.cancellation.set("task")

    return checkpoint
