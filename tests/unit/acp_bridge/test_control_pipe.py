import os

import pytest

from acp_bridge.control_pipe import ControlPipe


@pytest.fixture
def pipe():
    made = ControlPipe()
    yield made
    made.close()


def test_a_deadline_is_one_line(pipe):
    guard_fd = pipe.open()

    pipe.extend_to(12)

    assert os.read(guard_fd, 100) == b"until 12\n"
    os.close(guard_fd)


def test_a_guard_that_is_gone_is_not_told(pipe):
    os.close(pipe.open())

    pipe.extend_to(12)


def test_a_guard_that_does_not_read_holds_nobody_up(pipe):
    guard_fd = pipe.open()

    for _ in range(10_000):
        pipe.extend_to(12)

    os.close(guard_fd)


def test_unopened_or_closed_it_does_nothing(pipe):
    pipe.extend_to(12)
    pipe.close()
    guard_fd = pipe.open()

    pipe.close()
    pipe.close()
    pipe.extend_to(12)

    assert os.read(guard_fd, 100) == b""
    os.close(guard_fd)
