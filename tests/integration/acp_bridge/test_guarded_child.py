"""What the bridge's children are like under their guards, while the worker is well."""

import fcntl
import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from acp_bridge.environment import child_environment
from acp_bridge.errors import AgentDied, AgentKilled, AgentTimeout, AgentUnavailable
from tests.support import fake_child
from tests.support.child_processes import is_running, wait_until_exit


def test_the_agent_is_a_child_of_the_guard_and_in_its_group(open_desk):
    desk = open_desk()

    desk.remember()

    (guard,), (agent,) = desk.leaders(), desk.pids()
    assert guard != agent
    assert os.getpgid(agent) == os.getsid(agent) == guard
    assert desk.bridge.children() == {str(desk.path): guard}


def test_a_child_of_ours_in_a_call_lives_on_without_any_lease(open_desk):
    desk = open_desk("HangsInCall", guard_ms=500, reserve_ms=0)

    with pytest.raises(AgentTimeout):
        desk.remember(timeout_ms=1_200)


def test_a_foreign_child_in_a_call_dies_at_its_first_deadline_unless_extended(open_desk):
    desk = open_desk("ForeignHangsInCall", guard_ms=200)

    with pytest.raises(AgentKilled, match="its lease ran out"):
        desk.remember()


def test_a_foreign_child_in_a_call_lives_as_long_as_it_is_extended(open_desk, caller):
    desk = open_desk("ForeignHangsInCall", guard_ms=500, reserve_ms=0)
    running = caller.submit(desk.remember, timeout_ms=1_200)

    keep_extending(desk, running)

    assert isinstance(running.exception(10), AgentTimeout)


def keep_extending(desk, running):
    """Do as a worker does that renews its lease."""
    pause = threading.Event()
    while not running.done():
        desk.extend(500)
        pause.wait(0.05)


def test_an_extension_sets_the_deadline_even_to_an_earlier_one(open_desk, caller):
    desk = open_desk("ForeignHangsInCall", guard_ms=60_000)
    desk.watch_taken()
    running = caller.submit(desk.remember)
    desk.wait_taken()

    desk.extend(10)

    assert isinstance(running.exception(10), AgentKilled)


def test_a_foreign_child_without_a_call_needs_no_lease(open_desk, caller):
    desk = open_desk("Foreign", guard_ms=500)
    running = caller.submit(desk.remember)
    keep_extending(desk, running)
    running.result()

    desk.extend(0)

    with pytest.raises(AssertionError, match="still running"):
        wait_until_exit(desk.pids()[0], limit_s=1)
    desk.remember()
    assert len(desk.pids()) == 2  # one of ours is beside it


def test_a_child_needs_no_lease_to_start(open_desk):
    desk = open_desk("HangsAtStart", guard_ms=500, start_s=0.8)

    with capture_logs() as logs, pytest.raises(AgentUnavailable):
        desk.remember()

    failures = [line for line in logs if line["event"] == "agent_start_failed"]
    assert [line["cause"] for line in failures] == ["agent_timeout"] * 2


def test_an_extension_without_a_child_or_after_close_does_nothing(open_desk):
    desk = open_desk()

    desk.extend(0)
    assert desk.remember().touched_scopes == ["user"]

    desk.bridge.close()
    desk.extend(0)


def test_killing_the_guard_alone_ends_the_agent_and_the_call(open_desk, caller):
    desk = open_desk("ToughFamily")
    desk.watch_taken()
    running = caller.submit(desk.remember)
    desk.wait_taken()

    os.kill(desk.leaders()[0], signal.SIGKILL)

    assert isinstance(running.exception(10), AgentDied)
    grandchild = int((desk.path / fake_child.GRANDCHILD).read_text())
    for pid in (desk.pids()[0], grandchild):
        wait_until_exit(pid, limit_s=1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGUSR1])
def test_the_signal_that_ended_the_agent_is_reported_and_leaves_no_core(open_desk, number):
    desk = open_desk("SignalsItself")

    with pytest.raises(AgentDied) as caught:
        desk.remember(str(int(number)))

    assert caught.value.exit_code == -number
    assert list(desk.path.glob("*core*")) == []


def test_the_agent_goes_before_the_worker_when_memory_runs_out(open_desk):
    desk = open_desk()
    own = oom_score("self")

    desk.remember()

    assert oom_score(desk.pids()[0]) == "1000"
    assert oom_score(desk.leaders()[0]) == own


def test_the_agent_has_no_descriptor_but_its_pipes(open_desk):
    desk = open_desk()

    desk.remember()

    assert set(descriptors(desk.pids()[0])) == {0, 1, 2}


def test_the_guard_holds_no_pipe_of_the_agent(open_desk):
    desk = open_desk()

    desk.remember()

    guard, agent = descriptors(desk.leaders()[0]), descriptors(desk.pids()[0])
    assert not set(agent.values()) & set(guard.values())


def test_the_environment_is_exactly_what_was_allowed(open_desk):
    desk = open_desk()

    desk.remember()

    block = Path(f"/proc/{desk.pids()[0]}/environ").read_text()
    seen = dict(entry.split("=", 1) for entry in block.split("\0") if entry)
    assert seen == child_environment(os.environ)


def test_guard_and_agent_inherit_the_descriptors_that_are_to_be_kept(open_desk, tmp_path):
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        desk = open_desk(keep_fds=[lock.fileno()], resolver="HangsInResolve", resolve_s=1)
        desk.remember()

        for pid in (desk.pids()[0], desk.leaders()[0]):
            assert descriptors(pid)[lock.fileno()] == str(tmp_path / "lock")


def test_a_resolver_inherits_them_too(open_desk, tmp_path, caller):
    with (tmp_path / "lock").open("w") as lock:
        desk = open_desk(keep_fds=[lock.fileno()], resolver="HangsAtStart")
        running = caller.submit(desk.resolve)
        while not (desk.path / fake_child.STARTED).exists() or not desk.pids():
            desk.bridge.children()

        for pid in (desk.pids()[0], desk.leaders()[0]):
            assert descriptors(pid)[lock.fileno()] == str(tmp_path / "lock")
        desk.bridge.close()
        assert running.exception(10) is not None


def test_what_only_the_guard_can_find_wrong_with_a_command_is_logged(open_desk, tmp_path):
    script = tmp_path / "agent"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    desk = open_desk(command=[str(script)])

    with capture_logs() as logs, pytest.raises(AgentUnavailable):
        desk.remember()

    told = [line["stderr"] for line in logs if line["event"] == "agent_start_failed"]
    assert told == [(f"{script}: No such file or directory",)] * 2


def test_a_command_may_be_named_from_the_workspace(open_desk):
    desk = open_desk(command=["./agent", *fake_child.command("Child")[1:]])
    (desk.path / "agent").symlink_to(sys.executable)

    assert desk.remember().touched_scopes == ["user"]


def test_a_group_whose_agent_ended_by_itself_leaves_nobody(open_desk):
    desk = open_desk("HasGrandchild")

    with pytest.raises(AgentDied):
        desk.remember()

    assert not is_running(int((desk.path / fake_child.GRANDCHILD).read_text()))


def oom_score(pid):
    return Path(f"/proc/{pid}/oom_score_adj").read_text().strip()


def descriptors(pid):
    """What this process has open, by number."""
    return {int(link.name): str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
