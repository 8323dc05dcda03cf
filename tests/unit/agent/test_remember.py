"""The remember step on a real store, in this process, with faults that a child can't be given."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from agent.deadline import Deadline
from agent.models.interface import Message, Reply, ToolCall, ToolSpec
from agent.models.offline import OfflineModel
from agent.remember import RememberCall, remember
from core.acp import RememberParams, Usage
from core.ids import LaneId, new_task_id
from memory.errors import CommitConflict, StoreBusy
from memory.paths import Roots
from memory.store import FencedTask, Store, open_store
from tests.support.edited_meanwhile import EditedMeanwhile


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


def test_a_failure_after_the_commit_point_still_gives_the_result(tmp_path: Path, roots: Roots) -> None:
    store = open_store(tmp_path / "base", checkpoint=busy_at("applied"))

    result = remember(a_call(), store=store, roots=roots, model=OfflineModel())

    assert result["revision"] == "r1"
    assert (roots.user / "user/prefers-tea.md").exists()


def test_a_failure_before_the_commit_point_is_reported(tmp_path: Path, roots: Roots) -> None:
    store = open_store(tmp_path / "base", checkpoint=busy_at("planned"))
    call = a_call()

    with pytest.raises(StoreBusy):
        remember(call, store=store, roots=roots, model=OfflineModel())

    assert open_store(tmp_path / "base").resolve(call.task, close=True) is None
    assert list(roots.user.rglob("*.md")) == []


def test_a_conflict_runs_the_agent_again_on_what_is_there_now(store: Store, roots: Roots) -> None:
    model = EditedModel(roots.user / "a.md", edits=1)

    result = remember(a_call(), store=store, roots=roots, model=model)

    assert result["usage"]["modelCalls"] == model.calls == 2 * 3
    assert "Ours." in (roots.user / "a.md").read_text()


def test_a_conflict_is_given_up_after_three_more_runs(store: Store, roots: Roots) -> None:
    model = EditedModel(roots.user / "a.md", edits=9)

    with pytest.raises(CommitConflict):
        remember(a_call(), store=store, roots=roots, model=model)

    assert model.calls == 4 * 3
    assert "Edited by a person" in (roots.user / "a.md").read_text()


def test_a_conflict_with_little_time_left_is_given_up_at_once(store: Store, roots: Roots) -> None:
    model = EditedModel(roots.user / "a.md", edits=9)

    with pytest.raises(CommitConflict):
        remember(a_call(time_ms=50_000), store=store, roots=roots, model=model)

    assert model.calls == 3


@pytest.fixture
def store(tmp_path: Path, roots: Roots) -> Store:
    assert roots.user.is_relative_to(tmp_path)
    return open_store(tmp_path / "base")


def a_call(*, time_ms: int = 290_000) -> RememberCall:
    task = FencedTask(new_task_id("remember"), LaneId("test/lane"), 1, "remember")
    return RememberCall(RememberParams(content="Prefers tea", cwd="/"), task, Deadline.after(time_ms))


def busy_at(step: str) -> Callable[[str], None]:
    """A checkpoint that fails as a lock held for too long does, the first time that a step is reached."""
    left = [step]

    def checkpoint(reached: str) -> None:
        if reached in left:
            left.remove(reached)
            raise StoreBusy("the lock was held too long")

    return checkpoint
