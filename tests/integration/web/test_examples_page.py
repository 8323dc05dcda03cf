"""Each command of docs/http-examples.md, run in order as a reader would."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from core.settings import DEFAULT_PORT, Settings
from memlane.credentials import token_file
from tests.support.description import description
from tests.support.examples_page import PAGE, PRELUDE, Example, read_examples
from tests.support.memlane_up import running_memlane

STATUS = re.compile(r"^HTTP/1\.1 (\d{3}) .*?\r?\n\r?\n", re.DOTALL)
END_OF_STREAM = 28  # what curl exits with when its time is up
LIMIT_S = 60


def test_every_route_is_on_the_page() -> None:
    shown = {description().operation(example.method, example.path) for example in read_examples()}
    described = {
        ("paths", path, method)
        for path, methods in description().document["paths"].items()
        for method in methods
        if not path.startswith("/workspaces/")
    }

    assert described - shown == set()
    assert None not in shown


def test_every_command_is_read() -> None:
    assert len(read_examples()) == PAGE.read_text("utf-8").count("\ncurl ")
    assert PRELUDE in PAGE.read_text("utf-8")


def test_the_page_begins_with_the_address_and_the_token_that_a_service_has_unless_told_otherwise() -> None:
    home = str(Settings.model_fields["home"].default).replace("~", "$HOME")

    assert f"MEMLANE_URL=http://127.0.0.1:{DEFAULT_PORT} " in PAGE.read_text("utf-8")
    assert f'MEMLANE_TOKEN=$(cat "{token_file(Path(home))}")' in PAGE.read_text("utf-8")


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("unmeasured")
@pytest.mark.skipif(not shutil.which("curl") and "CI" not in os.environ, reason="there is no curl")
def test_every_command_is_answered_as_the_page_says(tmp_path: Path) -> None:
    with running_memlane(tmp_path) as service:
        known = {"MEMLANE_URL": service.url, "MEMLANE_TOKEN": service.token}
        for example in read_examples():
            known |= run(example, known, folder=tmp_path)


def run(example: Example, known: dict[str, str], *, folder: Path) -> dict[str, str]:
    """Run a command and return the variables that its answer gives to later ones."""
    done = subprocess.run(
        ["bash", "-uc", f"{PRELUDE}\n{example.command}"],
        cwd=folder,
        env={**os.environ, **known},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT_S,
        check=False,
    )
    head = STATUS.match(done.stdout)
    assert done.returncode in (0, END_OF_STREAM), done.stderr
    assert head is not None, done.stdout
    assert int(head[1]) == example.status, f"{example.command}\n{done.stdout}"
    return example.taken_from(done.stdout[head.end() :])
