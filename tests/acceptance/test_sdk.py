"""The SDK's examples, as the pages print them, and what both clients are worth on a real service."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlane.client import Client
from tests.support.memlane_up import Running, environment, running_memlane

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_memlane(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.mark.parametrize("page", ["README.md", "docs/sdk.md"])
def test_the_example_of_a_page_runs_as_it_stands(service: Running, tmp_path: Path, page: str):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    env = environment(tmp_path, MEMLANE_URL=service.url, MEMLANE_TOKEN=service.token)

    ran = subprocess.run(
        [sys.executable, "-P", "-c", example], env=env, cwd=ROOT, capture_output=True, text=True
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    heron, releases = ran.stdout.splitlines()
    assert "The staging database is called heron" in heron
    assert "Releases are tagged on Mondays" in releases


def test_a_fact_can_be_found_listed_and_taken_back(service: Running):
    with Client(service.url, service.token) as client:
        task = client.wait(client.remember("I like to read about herons in the evening.", scope="user"))

        (hit,) = client.search("herons", scope="user")
        listed = [document.path for document in client.documents(scope="user")]
        assert hit.path in listed
        assert hit.path in client.index("user").content
        assert client.wait(client.undo(str(task.revision))).outcome == "completed"
        assert client.search("herons", scope="user") == ()


def test_the_service_says_what_it_is(service: Running):
    with Client(service.url, service.token) as client:
        assert client.is_ready()
        assert client.capabilities().models == ("offline",)
