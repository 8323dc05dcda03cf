import os

import pytest

from acp_bridge.guard import Deadline, until_line
from core.clock import boot_ms


@pytest.fixture
def pipe():
    """Both ends of a pipe, the writing one unbuffered."""
    read_fd, write_fd = os.pipe()
    with open(read_fd, "rb") as reader, open(write_fd, "wb", buffering=0) as writer:  # noqa: PTH123 - descriptors, not paths
        yield reader, writer


def test_nothing_remains_of_a_deadline_that_has_passed(pipe):
    assert Deadline(pipe[0].fileno(), boot_ms() - 5).remaining_ms == 0


def test_a_line_sets_the_deadline(pipe):
    deadline = Deadline(pipe[0].fileno(), 0)

    pipe[1].write(until_line(boot_ms() + 60_000))

    assert deadline.hear() is True
    assert 59_000 < deadline.remaining_ms <= 60_000


def test_half_a_line_waits_for_the_other(pipe):
    deadline = Deadline(pipe[0].fileno(), 0)
    line = until_line(boot_ms() + 60_000)

    pipe[1].write(line[:9])
    assert deadline.hear() is True
    assert deadline.remaining_ms == 0

    pipe[1].write(line[9:])
    assert deadline.hear() is True
    assert deadline.remaining_ms > 0


def test_the_end_of_the_pipe_is_told(pipe):
    deadline = Deadline(pipe[0].fileno(), 0)

    pipe[1].close()

    assert deadline.hear() is False


def test_one_who_writes_anything_else_is_not_obeyed(pipe):
    deadline = Deadline(pipe[0].fileno(), 0)

    pipe[1].write(b"extend please\n")

    assert deadline.hear() is False
