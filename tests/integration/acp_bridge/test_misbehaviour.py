"""Children that misbehave in every way we know of: what becomes of the task, the next one, and of them."""

import json
import os
import signal
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from structlog.testing import capture_logs

from acp_bridge.errors import AgentDied, AgentTimeout, AgentUnavailable
from acp_bridge.stderr import MAX_LINE_CHARS
from core import clock
from core.acp import TaskMeta
from core.ids import LaneId, WorkspaceId
from core.workspaces import Workspace
from jobs.runs import TaskRun
from tests.integration.acp_bridge.conftest import Desk
from tests.support.child_processes import (
    is_running,
    open_descriptors,
    running_in_group,
    wait_until_exit,
)
from tests.support.fake_child import WELL
from tests.support.grants import grant

BOUND_S = 20.0  # of any task here, on a busy machine
COMPLETED = ("completed", None)
FAILED = ("failed", "remember_failed")
TIMED_OUT = ("failed", "remember_timeout")
UNAVAILABLE = ("failed", "agent_unavailable")
CANCELLED = ("cancelled", "task_cancelled")

BRIEF = {"reserve_ms": 300}
PINGS = {"ping_period_s": 0.1, "ping_limit_s": 0.3}
GRACE = {"cancel_grace_s": 0.1}

GIVEN_UP = {"error": {"code": -32099, "message": "no", "data": {"errorKind": "task_cancelled"}}}
SAVED = {"result": {"summary": "Saved.", "filesTouched": [], "touchedScopes": ["user"]}}
PROGRESS = {"taskId": "remember-1", "turn": 1}


@dataclass(frozen=True)
class Row:
    """What a child does, how its task ends.

    Attributes:
        says: content of the task, which some children act upon.
        meanwhile: happens when the child has taken the task.
    """

    behaviour: str
    ends: tuple[str, str | None]
    says: Any = "a fact"
    limits: Mapping[str, Any] = field(default_factory=dict)
    meanwhile: Callable[[TaskRun, pytest.MonkeyPatch], object] | None = None
    name: str = ""

    def __str__(self) -> str:
        return self.name or self.behaviour


def cancel(run: TaskRun, _monkeypatch: pytest.MonkeyPatch) -> None:
    run.stop("cancel")


def jump_and_cancel(ms: int, run: TaskRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the host's clock be set, then let the child answer."""
    then_ms = clock.wall_ms() + ms
    monkeypatch.setattr(clock, "wall_ms", lambda: then_ms)
    run.stop("cancel")


ROWS = [
    Row("ExitsAtStart", UNAVAILABLE),
    Row("HangsAtStart", UNAVAILABLE, limits={"start_s": 0.3}),
    Row("RefusesStart", UNAVAILABLE),
    Row("SpeaksVersionTwo", UNAVAILABLE),
    Row("MumblesAtStart", UNAVAILABLE),
    Row("ExitsInCall", FAILED),
    Row("SignalsItself", FAILED, str(int(signal.SIGKILL))),
    Row("HangsInCall", TIMED_OUT, limits=BRIEF),
    Row("ToughFamily", TIMED_OUT, limits=BRIEF, name="ignores signals, its own child too"),
    Row("Deaf", FAILED, limits=PINGS),
    Row("StopsItself", FAILED, limits=PINGS),
    Row("ClosesStdout", FAILED),
    Row("ClosesStdinInCall", FAILED, limits=PINGS),
    Row("AsksWithoutReading", FAILED, limits={"max_unsent_bytes": 1_000}),
    Row("HasGrandchild", FAILED),
    Row("FloodsStdout", COMPLETED),
    Row("FloodsStderr", COMPLETED),
    Row("SendsHugeFrame", FAILED),
    Row("EndsInFrame", FAILED),
    Row("SaysJunk", COMPLETED),
    Row("SaysInvalidUtf8", COMPLETED),
    Row("AnswersTwice", COMPLETED),
    Row("AnswersUnasked", COMPLETED),
    Row("AnswersInDepth", TIMED_OUT, limits=BRIEF),
    Row("AnswersInHugeNumbers", TIMED_OUT, limits=BRIEF),
    Row("AnswersAsTold", FAILED, {"result": {"summary": 5}}, name="result of the wrong shape"),
    Row("AnswersAsTold", FAILED, {"result": None}, name="null for a result"),
    Row("AnswersAsTold", FAILED, {"error": {"code": -1, "message": ""}}, name="error without data"),
    Row("AnswersAsTold", FAILED, {"error": {"code": "x", "data": [{}]}}, name="error with junk for data"),
    Row("AnswersAsTold", FAILED, {"error": "no"}, name="error that is none"),
    Row("Asks", COMPLETED, "fs/read_text_file"),
    Row("Asks", COMPLETED, "session/request_permission"),
    Row("TellsProgress", COMPLETED, {"params": PROGRESS, "times": 20_000}, name="storm of progress"),
    Row("TellsProgress", COMPLETED, {"params": ["?"], "times": 20_000}, name="storm of invalid progress"),
    Row("ForeignTellsProgress", COMPLETED, {"params": PROGRESS, "times": 10}),
    Row("GivesUp", CANCELLED, GIVEN_UP, meanwhile=cancel),
    Row("GivesUp", COMPLETED, SAVED, meanwhile=cancel, name="answers after the cancel"),
    Row("IgnoresCancel", CANCELLED, limits=GRACE, meanwhile=cancel),
    Row("ToughFamily", CANCELLED, limits=GRACE, meanwhile=cancel, name="ignores cancel and signals"),
    Row("ForeignHangsInCall", CANCELLED, meanwhile=cancel),
    Row(
        "GivesUp",
        COMPLETED,
        SAVED,
        meanwhile=partial(jump_and_cancel, 3_600_000),
        name="the clock goes ahead",
    ),
    Row(
        "GivesUp",
        COMPLETED,
        SAVED,
        meanwhile=partial(jump_and_cancel, -3_600_000),
        name="the clock goes back",
    ),
]


def task_on(desk: Desk, content: str) -> TaskRun:
    workspace = Workspace(WorkspaceId("w1"), str(desk.path), True)
    return TaskRun(
        desk.bridge, workspace, grant(content), lane=LaneId("test/w1"), on_progress=lambda *_: None
    )


def end_of(run: TaskRun) -> tuple[str, str | None]:
    end = run.execute(lambda _at_least: pytest.fail("no fence was wanted"))
    return end.status, end.code


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_task_ends_the_next_one_runs_and_nothing_is_left(open_desk, caller, monkeypatch, row):
    if row.ends == TIMED_OUT:
        monkeypatch.setattr("jobs.runs.TaskMeta", partial(TaskMeta, timeout_ms=0))
    caller.submit(int).result()  # the thread that it starts is no leak
    before = threading.active_count(), open_descriptors()
    desk = open_desk(row.behaviour, curable=True, resolver="NeverCommitted", **row.limits)
    if row.meanwhile is not None:
        desk.watch_taken()
    run = task_on(desk, row.says if isinstance(row.says, str) else json.dumps(row.says))

    running = caller.submit(end_of, run)
    if row.meanwhile is not None:
        desk.wait_taken()
        desk.taken.unlink()
        row.meanwhile(run, monkeypatch)
    ended = running.result(BOUND_S)
    desk.heal()
    monkeypatch.undo()
    following = end_of(task_on(desk, WELL))
    desk.bridge.close()

    assert (ended, following) == (row.ends, COMPLETED)
    assert [running_in_group(group) for group in desk.leaders()] == [[] for _ in desk.leaders()]
    assert (threading.active_count(), open_descriptors()) == before


def test_death_in_mid_call_reports_the_exit_code(open_desk):
    with pytest.raises(AgentDied) as caught:
        open_desk("ExitsInCall").remember()

    assert caught.value.exit_code == 7


def test_a_child_that_closed_its_output_has_no_exit_code_of_its_own(open_desk):
    with pytest.raises(AgentDied) as caught:
        open_desk("ClosesStdout").remember()

    assert caught.value.exit_code == -signal.SIGKILL


def test_an_answer_written_just_before_the_exit_counts(open_desk):
    for _ in range(3):
        assert open_desk("ExitsAfterAnswer").remember().touched_scopes == ["user"]


def test_a_grandchild_that_left_the_group_does_not_hold_up_the_call(open_desk):
    desk = open_desk("HasEscapedGrandchild")

    with pytest.raises(AgentDied) as caught:
        desk.remember()

    assert caught.value.exit_code == 7
    os.kill(int((desk.path / "grandchild").read_text()), signal.SIGKILL)


def test_a_child_that_fails_at_start_once_is_started_again_within_the_call(open_desk):
    desk = open_desk("ExitsAtStart", once=True)

    assert desk.remember().touched_scopes == ["user"]


def test_the_last_words_of_a_child_that_fails_at_start_are_logged(open_desk):
    with capture_logs() as logs, pytest.raises(AgentUnavailable):
        open_desk("ExitsAtStart").remember()

    failures = [line for line in logs if line["event"] == "agent_start_failed"]
    assert [line["stderr"] for line in failures] == [("no model, no work",)] * 2


def test_a_flood_on_stderr_is_cut_to_clean_lines(open_desk):
    with capture_logs() as logs:
        open_desk("FloodsStderr").remember()

    lines = [line for line in logs if line["event"] == "agent_stderr"]
    assert [line["line"] for line in lines] == ["y" * MAX_LINE_CHARS, "[31mred"]
    assert {line["log_level"] for line in lines} == {"info"}


def test_junk_on_stdout_is_counted_and_skipped(open_desk):
    with capture_logs() as logs:
        open_desk("SaysJunk").remember()

    junk = [line["junk_lines"] for line in logs if line["event"] == "agent_junk"]
    assert junk == [1, 2, 4]


def test_invalid_utf8_in_an_answer_is_replaced(open_desk):
    assert open_desk("SaysInvalidUtf8").remember().summary == "a\ufffdb"


def test_a_second_answer_is_ignored(open_desk):
    desk = open_desk("AnswersTwice")

    summaries = [json.loads(desk.remember(word).summary) for word in ("one", "two")]

    assert [summary["params"]["content"] for summary in summaries] == ["one", "two"]


@pytest.mark.parametrize("method", ["fs/read_text_file", "terminal/create", "anything"])
def test_a_request_of_the_child_is_answered_with_method_not_found(open_desk, method):
    reply = json.loads(open_desk("Asks").remember(method).summary)

    assert (reply["id"], reply["error"]["code"]) == ("mine", -32601)


def test_a_child_that_asks_for_permission_is_told_that_nobody_gave_it(open_desk):
    reply = json.loads(open_desk("Asks").remember("session/request_permission").summary)

    assert reply == {"jsonrpc": "2.0", "id": "mine", "result": {"outcome": {"outcome": "cancelled"}}}


def test_a_child_that_closed_its_input_is_found_out_by_pings(open_desk):
    desk = open_desk("ClosesStdin", once=True, ping_period_s=0.05, ping_limit_s=0.05)

    desk.remember()
    wait_until_exit(desk.pids()[0])

    assert is_running(desk.pids()[0]) is False


def test_a_child_that_answers_pings_lives_through_a_long_call(open_desk, caller):
    desk = open_desk("HangsInCall", ping_period_s=0.01, ping_limit_s=5, reserve_ms=300)

    with pytest.raises(AgentTimeout):
        desk.remember(timeout_ms=0)


def test_a_resolver_that_fails_at_start_is_unavailable(open_desk):
    with pytest.raises(AgentUnavailable):
        open_desk(resolver="ExitsAtStart").resolve()


def test_a_resolver_that_hangs_is_killed_after_its_limit(open_desk):
    desk = open_desk(resolver="HangsInResolve", resolve_s=0.5)

    with pytest.raises(AgentTimeout):
        desk.resolve()

    assert running_in_group(desk.leaders()[0]) == []
