"""The remember step on a real store, in this process, with faults that a child can't be given."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import pytest

from agent.deadline import Deadline
from agent.errors import TaskTimeout
from agent.models.interface import Message, Reply, ToolCall, ToolSpec
from agent.models.offline import OfflineModel
from agent.remember import COMMIT_RESERVE_MS, RememberCall, remember
from core.acp import AGENT_TIMEOUT_MS, BRIDGE_TIMEOUT_MS, RememberParams, Usage
from core.ids import LaneId, new_task_id
from memory.errors import CommitConflict, StoreBusy
from memory.lock import HOLD_MS, WAIT_MS
from memory.paths import Roots
from memory.store import FencedTask, Store, open_store
from tests.support.edited_meanwhile import EditedMeanwhile
from tests.support.scripted_model import document


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


class Calls:
    """A model that makes these calls, one a turn, each not before a moment."""

    name = "calls"

    def __init__(
        self, wanted: Sequence[tuple[str, dict[str, str]]], *, until: Deadline | None = None
    ) -> None:
        self._wanted = iter(wanted)
        self._until = until

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        wait_for(self._until)
        name, arguments = next(self._wanted)
        return Reply("Done.", (ToolCall("1", name, json.dumps(arguments)),), Usage(model_calls=1))


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


def test_a_known_fact_completes_without_a_change(store: Store, roots: Roots) -> None:
    remember(a_call(), store=store, roots=roots, model=OfflineModel())
    path = roots.user / "user/prefers-tea.md"
    before = path.read_bytes()
    again = a_call()

    result = remember(again, store=store, roots=roots, model=OfflineModel())

    assert result["summary"] == 'Already known: "Prefers tea" in user/prefers-tea.md.'
    assert (result["filesTouched"], result["touchedScopes"]) == ([], [])
    assert "revision" not in result
    assert path.read_bytes() == before
    assert store.resolve(again.task, close=False) == result


def test_an_unchanged_rewrite_of_what_has_no_frontmatter_is_known_by_its_path(
    store: Store, roots: Roots
) -> None:
    path = roots.user / "a.md"
    path.write_text("Tea.")
    model = Calls(
        [
            ("read_file", {"file_path": str(path)}),
            ("write_file", {"file_path": str(path), "content": "Tea."}),
        ]
    )

    result = remember(a_call(), store=store, roots=roots, model=model)

    assert result["summary"] == "Already known: a.md."
    assert result["filesTouched"] == []


def test_a_run_that_ends_too_late_for_the_lock_commits_nothing(store: Store, roots: Roots) -> None:
    call = a_call()
    model = OfflineModel()
    late = RememberCall(call.params, call.task, Deadline.after(0))

    with pytest.raises(TaskTimeout):
        remember(late, store=store, roots=roots, model=model)
    assert store.resolve(call.task, close=True) is None


def test_a_deadline_that_passes_during_the_last_write_commits_nothing(store: Store, roots: Roots) -> None:
    call = a_call(time_ms=1_500)
    path = str(roots.user / "a.md")
    model = Calls([("write_file", {"file_path": path, "content": document()})], until=call.deadline)

    with pytest.raises(TaskTimeout):
        remember(call, store=store, roots=roots, model=model)
    assert not Path(path).exists()


def test_a_commit_whose_placing_failed_is_the_tasks_answer(tmp_path: Path, roots: Roots) -> None:
    call = a_call(time_ms=1_500)
    store = open_store(tmp_path / "base", checkpoint=busy_at("applied", until=call.deadline))

    result = remember(call, store=store, roots=roots, model=OfflineModel())

    assert result["revision"] == "r1"
    recorded = open_store(tmp_path / "base").resolve(call.task, close=True)
    assert recorded is not None
    assert recorded["revision"] == "r1"


def test_the_longest_commit_is_over_before_the_bridge_gives_up() -> None:
    latest_begin_ms = AGENT_TIMEOUT_MS - COMMIT_RESERVE_MS

    assert latest_begin_ms + WAIT_MS + HOLD_MS < BRIDGE_TIMEOUT_MS


@pytest.fixture
def store(tmp_path: Path, roots: Roots) -> Store:
    assert roots.user.is_relative_to(tmp_path)
    return open_store(tmp_path / "base")


def wait_for(moment: Deadline | None) -> None:
    if moment is not None:
        Event().wait((moment.remaining_ms() + 5) / 1000)


def a_call(*, time_ms: int = 290_000) -> RememberCall:
    task = FencedTask(new_task_id("remember"), LaneId("test/lane"), 1, "remember")
    return RememberCall(RememberParams(content="Prefers tea", cwd="/"), task, Deadline.after(time_ms))


def busy_at(step: str, *, until: Deadline | None = None) -> Callable[[str], None]:
    """A checkpoint that fails as a lock held for too long does, the first time that a step is reached."""
    left = [step]

    def checkpoint(reached: str) -> None:
        if reached in left:
            left.remove(reached)
            wait_for(until)
            raise StoreBusy("the lock was held too long")

    return checkpoint
