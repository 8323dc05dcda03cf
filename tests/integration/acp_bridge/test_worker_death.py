"""A worker that dies or is paused in mid-call, and what becomes of its child's processes."""

import fcntl
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import bridge_worker, fake_child
from tests.support.child_processes import is_running, running_in_group, wait_until_exit

ROOT = Path(__file__).parents[3]


@dataclass
class Family:
    """A worker in mid-call and the processes of its child, which ends by SIGKILL only."""

    worker: subprocess.Popen[bytes]
    guard: int
    agent: int
    grandchild: int
    lock: Path

    @property
    def child(self):
        return [self.guard, self.agent, self.grandchild]


@pytest.fixture
def start_family(tmp_path):
    """Starts a worker that holds a lock, hands it to its child, and is in a remember call."""
    workers = []

    def start(*, guard_ms):
        lock = tmp_path / "slot.lock"
        os.mkfifo(tmp_path / "taken")
        with lock.open("w") as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
            command = bridge_worker.command(
                str(tmp_path), "ToughFamily", guard_ms=guard_ms, keep_fd=locked.fileno()
            )
            worker = subprocess.Popen(
                command, cwd=ROOT, pass_fds=[locked.fileno()], stdout=subprocess.DEVNULL
            )
        workers.append(worker)
        assert (tmp_path / "taken").read_text() == "taken"
        (agent,), (guard,) = fake_child.pids(tmp_path), fake_child.leaders(tmp_path)
        grandchild = int((tmp_path / fake_child.GRANDCHILD).read_text())
        family = Family(worker, guard, agent, grandchild, lock)
        assert set(running_in_group(guard)) == set(family.child)
        return family

    yield start
    for worker in workers:
        worker.kill()
        worker.wait(10)


def test_the_whole_child_dies_with_its_worker(start_family):
    family = start_family(guard_ms=60_000)

    family.worker.kill()

    for pid in family.child:
        wait_until_exit(pid, limit_s=2)


def test_the_whole_child_dies_while_its_worker_is_paused(start_family):
    family = start_family(guard_ms=500)

    family.worker.send_signal(signal.SIGSTOP)

    for pid in family.child:
        wait_until_exit(pid, limit_s=2)
    assert is_running(family.worker.pid)


def test_the_child_goes_on_while_its_worker_lives(start_family):
    family = start_family(guard_ms=500)

    with pytest.raises(AssertionError, match="still running"):
        wait_until_exit(family.agent, limit_s=1)


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lock_of_the_worker_is_free_only_when_its_child_is_dead(start_family, caller, fault):
    family = start_family(guard_ms=500)
    survivors = caller.submit(running_when_free, family.lock, [family.agent, family.grandchild])

    assert not survivors.done()
    family.worker.send_signal(fault)
    wait_until_exit(family.guard, limit_s=2)
    family.worker.kill()

    assert survivors.result(10) == []


def running_when_free(lock, pids):
    """Wait for the lock and tell which of these processes run at that moment."""
    with lock.open() as waiting:
        fcntl.flock(waiting, fcntl.LOCK_EX)
        return [pid for pid in pids if is_running(pid)]
