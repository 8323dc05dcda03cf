"""What a person sees of `memlane up`: banner, one line for each task, farewell."""

import os
import pty
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memlane.client import Client
from tests.support.memlane_up import STOP_LIMIT_S, command, environment
from tests.support.redis_server import engine_or_skip


@pytest.fixture(autouse=True)
def needs_an_engine():
    engine_or_skip()


class Screen:
    """What a terminal shows so far."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.text = ""

    def read_until(self, pattern: str) -> re.Match[str]:
        """Read on until the pattern is there."""
        while True:
            found = re.search(pattern, self.text)
            if found is not None:
                return found
            shown = os.read(self._descriptor, 65_536).decode()  # an error once all writers have ended
            self.text += shown.replace("\r\n", "\n")


@contextmanager
def on_terminal(folder: Path, **changes: str) -> Iterator[tuple[subprocess.Popen[bytes], Screen]]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(folder),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=environment(folder, **{"TERM": "xterm", **changes}),
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield process, Screen(ours)
    finally:
        process.terminate()
        process.wait(STOP_LIMIT_S)
        os.close(ours)


def test_a_terminal_shows_a_banner_a_line_for_each_task_and_a_farewell(tmp_path):
    with on_terminal(tmp_path) as (process, screen):
        url = screen.read_until(r"\Amemlane is ready at (\S+)\n")[1]
        screen.read_until(r"stop +Ctrl-C\n")
        token = (tmp_path / "home" / "token").read_text().strip()
        with Client(url, token) as client:
            client.wait(client.remember("The build runs on Debian."), 30)
        screen.read_until(r"completed remember-")
        process.send_signal(signal.SIGINT)
        screen.read_until(r"for the next start\n")
        status = process.wait(STOP_LIMIT_S)

    after_banner = screen.text.partition("Ctrl-C\n")[2].splitlines()
    assert status == 0
    assert len(after_banner) == 2, screen.text
    assert re.fullmatch(r"\d\d:\d\d:\d\d completed remember-[0-9a-f]{4}… \d+\.\d s", after_banner[0])
    assert after_banner[1] == "stopped; no tasks wait for the next start"


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_a_missing_workspace_is_named_in_colour_unless_told_otherwise(tmp_path, no_colour):
    with on_terminal(tmp_path, NO_COLOR=no_colour) as (_, screen):
        url = screen.read_until(r"ready at (\S+)\n")[1]
        token = (tmp_path / "home" / "token").read_text().strip()
        shutil.rmtree(tmp_path / "workspace")
        with Client(url, token) as client:
            ended = client.wait(client.remember("The build runs on Debian."), 30)
        screen.read_until(r"failed remember-")

    assert ended.error is not None
    assert f"the workspace folder {tmp_path}/workspace is missing" in screen.text
    assert ("\x1b[33m" in screen.text) == (not no_colour)
