import os
import subprocess
import sys
from pathlib import Path

from agent.outlet import Outlet

ROOT = Path(__file__).parents[3]


def test_lines_go_out_whole() -> None:
    reading, writing = os.pipe()

    Outlet(writing).send(b"line\n")

    assert os.read(reading, 100) == b"line\n"
    os.close(reading)
    os.close(writing)


def test_after_the_peer_left_lines_are_dropped() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    outlet = Outlet(writing)

    outlet.send(b"one\n")
    outlet.send(b"two\n")

    os.close(writing)


def test_what_prints_does_not_reach_the_protocol() -> None:
    program = (
        "import os, sys; from agent.outlet import Outlet, take_stdout; outlet = Outlet(take_stdout()); "
        "print('stray', flush=True); outlet.send(b'protocol\\n')"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, timeout=30, check=True
    )

    assert done.stdout == b"protocol\n"
    assert done.stderr == b"stray\n"
