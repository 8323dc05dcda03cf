"""How far a task is, as it is told while it runs."""

from dataclasses import replace

from agent.models.interface import ToolCall
from agent.progress import MIN_INTERVAL_MS, ProgressWatch
from agent.tools import ToolResult
from core.acp import Progress
from tests.support.scripted_model import document
from tests.support.task_memory import TaskMemory, task_call
from tests.support.tool_run import ToolRun


class Told:
    """A watch on a clock that stands still, and what it has told."""

    def __init__(self, tool_run: ToolRun) -> None:
        self.now_ms = 1_000_000
        self.progress: list[Progress] = []
        self.watch = ProgressWatch(tool_run.transaction, self.progress.append, now_ms=lambda: self.now_ms)

    def tool(self, name: str, *, after_ms: int) -> None:
        self.now_ms += after_ms
        self.watch.tool_ended(ToolCall("1", name, "{}"), ToolResult("", ok=True))


def test_each_turn_is_told(tool_run: ToolRun) -> None:
    told = Told(tool_run)

    told.watch.turn_began(1, of=6)
    told.watch.turn_began(2, of=6)

    task = tool_run.task.id
    assert told.progress == [
        Progress(task_id=task, turn=1, max_turns=6),
        Progress(task_id=task, turn=2, max_turns=6),
    ]


def test_tools_are_told_five_times_a_second_at_most(tool_run: ToolRun) -> None:
    told = Told(tool_run)
    told.watch.turn_began(1, of=6)

    for name in ("read_file", "grep_search", "edit", "read_file"):
        told.tool(name, after_ms=MIN_INTERVAL_MS // 2)

    assert [one.last_tool for one in told.progress] == [None, "grep_search", "read_file"]


def test_what_was_left_out_is_said_with_the_next_turn(tool_run: ToolRun) -> None:
    told = Told(tool_run)
    told.watch.turn_began(1, of=6)
    path = f"{tool_run.roots.user}/user/tea.md"
    tool_run.transaction.write(path, document().encode())
    told.tool("write_file", after_ms=0)

    told.watch.turn_began(2, of=6)

    assert (told.progress[-1].last_tool, told.progress[-1].files_touched) == ("write_file", 1)


def test_a_tool_that_there_is_not_is_not_named(tool_run: ToolRun) -> None:
    told = Told(tool_run)

    told.tool("rm -rf of a secret", after_ms=MIN_INTERVAL_MS)

    assert [one.last_tool for one in told.progress] == [None]


def test_every_kind_of_task_that_asks_a_model_tells_its_turns(memory: TaskMemory) -> None:
    told: list[Progress] = []

    memory.remember("Prefers tea", call=replace(task_call("remember"), tell=told.append))
    memory.dream(scope="user", call=replace(task_call("dream"), tell=told.append))
    memory.forget("tea", call=replace(task_call("forget"), tell=told.append))

    first = [one for one in told if one.turn == 1 and one.last_tool is None]
    assert [(one.task_id.partition("-")[0], one.max_turns) for one in first] == [
        ("remember", 6),
        ("dream", 8),
        ("forget", 1),
    ]
