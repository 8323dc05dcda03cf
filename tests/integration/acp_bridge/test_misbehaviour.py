import json
import os
import signal

import pytest
from structlog.testing import capture_logs

from acp_bridge.errors import (
    AgentDied,
    AgentProtocolError,
    AgentTimeout,
    AgentUnavailable,
)
from acp_bridge.stderr import MAX_LINE_CHARS
from tests.support.child_processes import (
    is_running,
    open_descriptors,
    running_in_group,
    wait_until_exit,
    wait_until_group_is_gone,
)

ENDINGS = [
    ("ExitsInCall", AgentDied, {}),
    ("EndsInFrame", AgentDied, {}),
    ("HangsInCall", AgentTimeout, {"reserve_ms": 100}),
    ("Deaf", AgentDied, {"ping_period_s": 0.05, "ping_limit_s": 0.05}),
    ("ClosesStdout", AgentDied, {}),
    ("SendsHugeFrame", AgentProtocolError, {"max_frame_bytes": 100_000}),
    ("HasGrandchild", AgentDied, {}),
    ("AsksWithoutReading", AgentDied, {"max_unsent_bytes": 1000}),
]


@pytest.mark.parametrize(("behaviour", "error", "limits"), ENDINGS, ids=[row[0] for row in ENDINGS])
def test_a_child_that_fails_in_mid_call_ends_it_and_the_next_call_has_a_new_child(
    open_desk, behaviour, error, limits
):
    desk = open_desk(behaviour, once=True, **limits)

    with pytest.raises(error):
        desk.remember(timeout_ms=0 if error is AgentTimeout else 20_000)

    wait_until_group_is_gone(desk.leaders()[0], limit_s=1)
    assert desk.remember().touched_scopes == ["user"]
    assert len(desk.pids()) == 2


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


def test_a_grandchild_that_holds_the_pipes_ends_with_the_child(open_desk):
    desk = open_desk("HasGrandchild")

    with pytest.raises(AgentDied) as caught:
        desk.remember()

    assert caught.value.exit_code == 7
    wait_until_exit(int((desk.path / "grandchild").read_text()), limit_s=1)


def test_a_grandchild_that_left_the_group_does_not_hold_up_the_call(open_desk):
    desk = open_desk("HasEscapedGrandchild")

    with pytest.raises(AgentDied) as caught:
        desk.remember()

    assert caught.value.exit_code == 7
    os.kill(int((desk.path / "grandchild").read_text()), signal.SIGKILL)


@pytest.mark.parametrize("behaviour", ["RefusesStart", "SpeaksVersionTwo", "MumblesAtStart", "ExitsAtStart"])
def test_a_child_that_fails_at_start_twice_is_unavailable(open_desk, behaviour):
    desk = open_desk(behaviour)

    with pytest.raises(AgentUnavailable):
        desk.remember()

    assert len(desk.pids()) == 2


def test_a_child_that_hangs_at_start_is_killed_and_unavailable(open_desk):
    desk = open_desk("HangsAtStart", start_s=0.3)

    with pytest.raises(AgentUnavailable):
        desk.remember()

    assert len(desk.pids()) == 2


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


def test_answers_to_calls_never_made_are_ignored(open_desk):
    assert open_desk("AnswersUnasked").remember().touched_scopes == ["user"]


def test_a_request_of_the_child_is_answered_with_method_not_found(open_desk):
    reply = json.loads(open_desk("Asks").remember().summary)

    assert reply["id"] == "mine"
    assert reply["error"]["code"] == -32601


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


def test_descriptors_do_not_grow_with_deaths(open_desk):
    desk = open_desk("ExitsInCall")
    counts = []

    for _ in range(4):
        with pytest.raises(AgentDied):
            desk.remember()
        counts.append(open_descriptors())

    assert counts[0] == counts[-1]
