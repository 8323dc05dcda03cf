import threading
from typing import Any

import pytest
from structlog.testing import capture_logs

from acp_bridge.errors import AgentKilled, AgentUnavailable
from tests.support.child_processes import (
    is_running,
    open_descriptors,
    running_in_group,
    wait_until_exit,
)


def test_kill_ends_the_running_call_and_the_next_one_has_a_new_child(open_desk, caller):
    desk = open_desk("HangsInCall", once=True)
    desk.watch_taken()
    running = caller.submit(desk.remember)
    desk.wait_taken()

    desk.kill()

    assert isinstance(running.exception(10), AgentKilled)
    assert running_in_group(desk.leaders()[0]) == []
    desk.taken.unlink()
    assert desk.remember().touched_scopes == ["user"]


def test_kill_reaches_a_child_that_is_still_starting(open_desk, caller):
    desk = open_desk("HangsAtStart")
    running = caller.submit(desk.remember)
    wait_for_start(desk)

    desk.kill()

    assert isinstance(running.exception(10), AgentKilled)
    assert len(desk.pids()) == 1


def test_kill_ends_the_pause_before_a_start(open_desk, caller):
    desk = open_desk("ExitsAtStart", first_backoff_s=60, max_backoff_s=60)
    running = caller.submit(desk.remember)
    wait_for_start(desk)
    wait_until_exit(desk.pids()[0])

    while not running.done():
        desk.kill()

    assert isinstance(running.exception(10), AgentKilled)


def test_kill_without_a_child_does_nothing(open_desk):
    desk = open_desk()

    desk.kill()

    assert desk.remember().touched_scopes == ["user"]


def test_a_child_that_dies_idle_is_replaced(open_desk):
    desk = open_desk()
    desk.remember()

    desk.kill()
    wait_until_exit(desk.pids()[0])
    desk.remember()

    assert len(desk.pids()) == 2


def test_calls_at_once_share_one_child(open_desk, caller):
    desk = open_desk()

    calls = [caller.submit(desk.remember) for _ in range(4)]

    assert all(call.result(10).touched_scopes == ["user"] for call in calls)
    assert len(desk.pids()) == 1


def test_calls_at_once_share_one_failed_start(open_desk, caller):
    desk = open_desk("HangsAtStart", start_s=0.5)

    calls = [caller.submit(desk.remember) for _ in range(3)]

    assert all(isinstance(call.exception(10), AgentUnavailable) for call in calls)
    assert len(desk.pids()) == 2


def test_an_idle_child_is_stopped_and_the_next_call_starts_another(open_desk):
    desk = open_desk(idle_s=0.05)

    desk.remember()
    wait_until_exit(desk.pids()[0])

    assert desk.bridge.children() == {}
    desk.remember()
    assert len(desk.pids()) == 2


def test_a_child_at_work_is_not_idle(open_desk, caller):
    desk = open_desk("HangsInCall", once=True, idle_s=0.01)
    desk.available()
    desk.watch_taken()
    running = caller.submit(desk.remember)
    desk.wait_taken()

    assert not running.done()

    desk.kill()
    assert isinstance(running.exception(10), AgentKilled)


def test_over_the_cap_the_least_recently_used_idle_child_goes(open_desk):
    desk = open_desk(max_children=2)
    paths = [desk.path / name for name in ("a", "b", "c")]
    for path in paths:
        path.mkdir()
    a, b, c = paths

    for path in (a, b, a, c):
        desk.remember(path=path)

    assert set(desk.bridge.children()) == {str(a), str(c)}


def test_a_busy_child_is_never_stopped_for_the_cap_and_a_surplus_goes_once_it_is_idle(open_desk, caller):
    desk = open_desk("HangsInCall", once=True, max_children=1)
    desk.watch_taken()
    other = desk.path / "other"
    other.mkdir()
    running = caller.submit(desk.remember)
    desk.wait_taken()

    desk.remember(path=other)

    assert set(desk.bridge.children()) == {str(desk.path)}
    desk.kill()
    assert isinstance(running.exception(10), AgentKilled)


@pytest.mark.parametrize("behaviour", ["Child", "NeedsTerm", "Stubborn"])
def test_close_ends_every_child_and_a_second_close_does_nothing(open_desk, behaviour):
    threads, descriptors = threading.active_count(), open_descriptors()
    desk = open_desk(behaviour)
    desk.remember()

    desk.bridge.close()
    desk.bridge.close()

    assert running_in_group(desk.leaders()[0]) == []
    assert (threading.active_count(), open_descriptors()) == (threads, descriptors)


def test_close_ends_running_calls(open_desk, caller):
    desk = open_desk("Deaf")
    desk.watch_taken()
    running = caller.submit(desk.remember)
    desk.wait_taken()

    desk.bridge.close()

    assert isinstance(running.exception(10), AgentKilled)


def test_close_ends_a_start_and_a_resolve_under_way(open_desk, caller):
    desk = open_desk("HangsAtStart", resolver="HangsAtStart")
    calls = [caller.submit(desk.remember), caller.submit(desk.resolve)]
    wait_for_start(desk, count=2)

    desk.bridge.close()

    assert [type(call.exception(10)) for call in calls] == [AgentKilled, AgentKilled]


def test_close_at_the_moment_of_a_call_leaves_nothing(open_desk, caller):
    desk = open_desk()
    calls = [caller.submit(desk.remember), caller.submit(desk.resolve)]

    desk.bridge.close()

    assert all(call.done() or call.exception(10) for call in calls)


def test_after_close_calls_are_refused(open_desk):
    desk = open_desk()

    desk.bridge.close()
    desk.kill()

    for call in (desk.remember, desk.available, desk.resolve, desk.bridge.children):
        with pytest.raises(AgentKilled):
            call()


def test_start_and_end_of_a_child_are_logged(open_desk):
    with capture_logs() as logs:
        desk = open_desk()
        desk.remember()
        desk.bridge.close()

    told = {line["event"]: line for line in logs}
    assert told["agent_started"]["pid"] == told["agent_ended"]["pid"] == desk.leaders()[0]
    assert told["agent_ended"]["exit_code"] == 0
    assert not is_running(desk.pids()[0])


def wait_for_start(desk: Any, *, count: int = 1) -> None:
    """Block until children have been started; asks the bridge in between, which takes a turn of its loop."""
    listing = desk.path / "started"
    while not listing.exists() or len(desk.pids()) < count:
        desk.bridge.children()
