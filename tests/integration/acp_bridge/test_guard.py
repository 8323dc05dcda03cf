"""The guard by itself: the test is the worker."""

import os
import signal
import subprocess
import sys

import pytest

from acp_bridge import guard
from core.clock import boot_ms
from tests.support.child_processes import is_running, wait_until_group_is_gone

SLEEPS = ("/bin/sh", "-c", "echo $$; exec sleep 60")


def as_measured(command):
    """Coverage gets into processes by way of ``site``, which -S keeps out."""
    measured = "COVERAGE_PROCESS_CONFIG" in os.environ
    return [word for word in command if not (measured and word == "-S")]


class Guarded:
    """A guarded command and the worker's end of its control pipe."""

    def __init__(self, command, *, first_ms):
        guard_fd, write_fd = os.pipe()
        self.control = os.fdopen(write_fd, "wb", buffering=0)
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            as_measured(guard.guarded(command, control_fd=guard_fd, deadline_ms=boot_ms() + first_ms)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[guard_fd],
            start_new_session=True,
        )
        os.close(guard_fd)

    def until(self, deadline_ms):
        self.control.write(guard.until_line(deadline_ms))

    def first_line(self):
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def close(self):
        self.control.close()
        self.process.communicate(timeout=10)
        wait_until_group_is_gone(self.process.pid)


@pytest.fixture
def start():
    started = []

    def start_one(*command, first_ms=60_000):
        started.append(Guarded(command, first_ms=first_ms))
        return started[-1]

    yield start_one
    for guarded in started:
        guarded.close()


def test_bytes_pass_and_the_exit_code_is_the_commands(start):
    guarded = start("/bin/sh", "-c", "cat; echo wrong >&2; exit 7")

    assert guarded.process.communicate(b"a\0b\n", timeout=10) == (b"a\0b\n", b"wrong\n")
    assert guarded.process.returncode == 7


def test_the_command_is_found_on_the_path_and_sees_its_arguments_unchanged(start):
    guarded = start("printf", "%s|", "a b", "$c", "")

    assert guarded.process.communicate(timeout=10)[0] == b"a b|$c||"


def test_the_command_has_the_default_signals(start):
    guarded = start("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")

    masks = guarded.process.communicate(timeout=10)[0].split()[1::2]
    # 32 and 33 belong to the C library
    assert [int(mask, 16) & 0x7FFFFFFF for mask in masks] == [0, 0]


@pytest.mark.parametrize("number", [signal.SIGPIPE, signal.SIGTERM, signal.SIGKILL, signal.SIGABRT])
def test_it_ends_by_the_signal_that_ended_the_command(start, number):
    guarded = start("/bin/sh", "-c", f"kill -{int(number)} $$")

    assert guarded.process.wait(10) == -number


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_group_is_for_the_command_to_answer(start, number):
    guarded = start("/bin/sh", "-c", f"trap 'exit 5' {int(number)}; echo ready; while :; do sleep 0.1; done")
    assert guarded.first_line() == b"ready\n"

    os.killpg(guarded.process.pid, number)

    assert guarded.process.wait(10) == 5


def test_what_the_command_leaves_behind_is_dead_before_the_exit(start):
    guarded = start("/bin/sh", "-c", "trap '' TERM; sleep 60 & echo $!; exit 3")
    left = int(guarded.first_line())

    assert guarded.process.wait(10) == 3
    assert not is_running(left)


def test_the_group_is_killed_at_the_first_deadline(start):
    assert start(*SLEEPS, first_ms=100).process.wait(10) == -signal.SIGKILL


def test_the_group_is_killed_at_a_later_deadline(start):
    guarded = start(*SLEEPS)
    command = int(guarded.first_line())

    guarded.until(boot_ms() + 100)

    assert guarded.process.wait(10) == -signal.SIGKILL
    assert not is_running(command)


def test_the_group_is_killed_when_the_control_pipe_ends(start):
    guarded = start(*SLEEPS)
    command = int(guarded.first_line())

    guarded.control.close()

    assert guarded.process.wait(10) == -signal.SIGKILL
    assert not is_running(command)


def test_the_last_of_several_lines_counts(start):
    guarded = start(*SLEEPS)
    command = int(guarded.first_line())

    guarded.control.write(guard.until_line(boot_ms() + 60_000) + guard.until_line(boot_ms() + 10))

    assert guarded.process.wait(2) == -signal.SIGKILL
    assert not is_running(command)


def test_a_later_deadline_keeps_the_command_alive(start):
    guarded = start("/bin/sh", "-c", "echo; sleep 0.6; exit 4", first_ms=300)
    guarded.until(boot_ms() + 60_000)

    assert guarded.process.wait(10) == 4


def test_a_line_that_makes_no_sense_kills_the_group(start):
    guarded = start(*SLEEPS)
    command = int(guarded.first_line())

    guarded.control.write(b"extend please\n")

    assert guarded.process.wait(10) == -signal.SIGKILL
    assert not is_running(command)


def test_a_command_that_does_not_exist_is_one_line(start):
    guarded = start("/no/such/program")

    assert guarded.process.communicate(timeout=10)[1] == b"/no/such/program: No such file or directory\n"
    assert guarded.process.returncode == guard.NOT_STARTED


def test_it_refuses_to_work_in_a_group_that_is_not_its_own():
    command = [sys.executable, "-I", "-S", guard.__file__, "0", "0", "/bin/echo", "hello"]

    answer = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (answer.returncode, answer.stdout) == (1, "")
    assert "has to lead its process group" in answer.stderr


def test_it_is_cheap_enough_to_import_nothing_of_ours():
    loaded = "import sys; exec(open(sys.argv[1]).read(), {'__name__': 'guard'}); print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", loaded, guard.__file__]

    answer = subprocess.run(command, capture_output=True, text=True, check=True)

    assert not {"core", "acp_bridge", "asyncio", "pathlib", "subprocess", "typing"} & set(
        answer.stdout.split()
    )
