"""A task that is to stop while a child is at it."""

import json

import pytest

from acp_bridge.errors import AgentFailed, AgentKilled
from tests.support.child_processes import running_in_group

GIVEN_UP = {"error": {"code": -32099, "message": "no", "data": {"errorKind": "task_cancelled"}}}
COMMITTED = {"result": {"summary": "Saved.", "filesTouched": [], "touchedScopes": ["user"]}}
UNHURRIED = 60.0


@pytest.fixture
def start_task(open_desk, caller):
    """Opens a desk whose child has taken a task, and gives it with the call under way."""

    def start(behaviour, content="a fact", *, undo=False, **how):
        desk = open_desk(behaviour, **how)
        desk.watch_taken()
        running = caller.submit(desk.undo) if undo else caller.submit(desk.remember, content)
        desk.wait_taken()
        return desk, running

    return start


def test_a_child_of_ours_is_told_gives_the_task_up_and_stays_warm(start_task):
    desk, running = start_task("GivesUp", json.dumps(GIVEN_UP), cancel_grace_s=UNHURRIED)

    desk.cancel()
    desk.cancel()  # it is told once: it would die of an answer to a call that has ended

    error = running.exception(10)
    assert isinstance(error, AgentFailed)
    assert error.error_kind == "task_cancelled"
    assert desk.available()
    assert list(desk.bridge.children().values()) == desk.leaders()


def test_what_it_had_committed_by_then_is_its_answer(start_task):
    desk, running = start_task("GivesUp", json.dumps(COMMITTED), cancel_grace_s=UNHURRIED)

    desk.cancel()

    assert running.result(10).summary == "Saved."


def test_a_child_that_only_says_that_it_gives_up_is_killed_once_its_grace_is_over(start_task):
    desk, running = start_task("HangsInCall", cancel_grace_s=0.1)

    desk.cancel()

    assert isinstance(running.exception(10), AgentKilled)
    assert running_in_group(desk.leaders()[0]) == []


def test_a_foreign_child_is_killed_at_once_as_it_knows_no_cancelling(start_task):
    desk, running = start_task("ForeignHangsInCall", cancel_grace_s=UNHURRIED)

    desk.cancel()

    assert isinstance(running.exception(10), AgentKilled)


def test_a_child_that_is_still_starting_is_killed_at_once(open_desk, caller):
    desk = open_desk("HangsAtStart", cancel_grace_s=UNHURRIED)
    running = caller.submit(desk.remember)

    while not running.done():
        desk.cancel()

    assert isinstance(running.exception(10), AgentKilled)


@pytest.mark.parametrize("way", ["cancel", "kill"])
def test_a_task_on_a_child_of_ours_beside_a_foreign_one_is_reached(start_task, way):
    desk, running = start_task("Foreign", undo=True, resolver="HangsInUndo", cancel_grace_s=0.1)

    getattr(desk, way)()

    assert isinstance(running.exception(10), AgentKilled)
    assert running_in_group(desk.leaders()[1]) == []


def test_the_cancel_of_another_task_leaves_the_child_at_its_work(start_task):
    desk, running = start_task("GivesUp", json.dumps(COMMITTED), cancel_grace_s=0.0)

    desk.cancel("remember-2")
    desk.bridge.children()  # takes its turn after the cancel

    assert not running.done()
    desk.kill()
    assert isinstance(running.exception(10), AgentKilled)


def test_a_cancel_never_reaches_a_resolver(open_desk, caller):
    desk = open_desk(resolver="HangsInResolve", resolve_s=1.0)
    running = caller.submit(desk.resolve)
    while not running.done():
        desk.cancel()

    assert not isinstance(running.exception(10), AgentKilled)
