"""The SDK of the reference, `@qwen-code/sdk`, works with the service as it is."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlane.client import Client
from tests.support import reference
from tests.support.memlane_up import Running, environment, running_memlane

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("daemon_sdk.mjs")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Running]:
    with running_memlane(folder) as running:
        yield running


def told_by(scenario: str, service: Running, folder: Path) -> Any:
    """What the SDK gave in a scenario; it has spoken to the service only."""
    places = folder / f"places-{scenario}"
    names = {
        "NODE_OPTIONS": f"--require={reference.LOOPBACK_ONLY}",
        "INTEROP_PLACES": str(places),
        "INTEROP_HOME": os.environ["INTEROP_HOME"],
        "INTEROP_TOKEN": service.token,
    }
    ran = subprocess.run(
        [reference.install_folder() / "node", SCRIPT, scenario, service.url, folder / "workspace"],
        env=environment(folder, **names),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr[-1000:]
    assert set(places.read_text().split()) == {service.url.removeprefix("http://")}
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def session(service: Running, folder: Path) -> Any:
    """What the SDK gave of a session, from its beginning to its end, in a workspace that has a past."""
    with Client(service.url, service.token) as client:
        client.wait(client.remember("The plane is late."))
    return told_by("session", service, folder)


def test_its_tasks_are_accepted_and_end(service: Running, folder: Path):
    told = told_by("tasks", service, folder)

    accepted, remembered = told["accepted"], told["remembered"]
    assert (accepted["status"], accepted["contextMode"], accepted["scope"]) == ("queued", "workspace", "user")
    assert remembered["result"]["filesTouched"] == ["~/memory/memories/user/i-like-green-tea.md"]
    assert remembered["result"]["touchedScopes"] == ["user"]
    assert [entry["summary"] for entry in told["forgotten"]["result"]["removedEntries"]] == [
        "I like green tea."
    ]
    assert (told["dreamt"]["status"], told["dreamt"]["result"]["dedupedEntries"]) == ("completed", 0)
    assert told["cwd"] == str(folder / "workspace")


def test_its_errors_have_the_status_and_code_of_the_contract(service: Running, folder: Path):
    told = told_by("refusals", service, folder)

    assert {name: (one["name"], one["status"], one["code"]) for name, one in told.items()} == {
        "blank": ("DaemonHttpError", 400, "invalid_content"),
        "unknownTask": ("DaemonHttpError", 404, "remember_task_not_found"),
        "unknownClient": ("DaemonHttpError", 400, "invalid_client_id"),
        "wrongToken": ("DaemonHttpError", 401, "unauthorized"),
        "otherFolder": ("DaemonHttpError", 400, "workspace_mismatch"),
        "noSession": ("DaemonHttpError", 404, "session_not_found"),
        "notServed": ("DaemonHttpError", 404, "not_found"),
    }


def test_a_session_hears_of_its_clients_tasks(session: Any):
    own = session["session"]["clientId"]
    (change,) = [event for event in session["heard"] if event["type"] == "memory_changed"]

    assert (change["data"]["scope"], change["originatorClientId"]) == ("managed", own)
    assert session["beat"]["clientId"] == own
    assert (session["hidden"]["status"], session["hidden"]["code"]) == (404, "remember_task_not_found")


def test_a_session_goes_on_after_a_break_without_a_gap(session: Any):
    replayed, last = session["replayed"][:-1], session["replayed"][-1]
    first = session["resumedFrom"] + 1

    assert [event["id"] for event in replayed] == list(range(first, first + len(replayed)))
    assert session["missed"] in [
        event["data"]["taskId"] for event in replayed if event["type"] == "memory_changed"
    ]
    assert (last["type"], last["data"]["replayedCount"]) == ("replay_complete", len(replayed))


def test_a_session_that_is_closed_ends_its_stream_and_is_gone(session: Any):
    assert (session["other"]["sessionId"], session["other"]["attached"]) == (
        session["session"]["sessionId"],
        True,
    )
    assert session["other"]["clientId"] != session["session"]["clientId"]
    assert session["closed"]["data"]["sessionId"] == session["session"]["sessionId"]
    assert session["streamEnded"]
    assert session["afterwards"]["code"] == "session_not_found"


def test_its_views_take_every_event_and_know_those_of_the_contract(session: Any):
    shown = dict(session["shown"])

    assert shown["memory_changed"] == ["workspace.memory.changed"]
    assert shown["replay_complete"] == ["session.replay_complete"]
    assert shown["task_queued"] == ["debug"]
    assert shown["session_closed"] == ["status"]
    assert set(session["known"]) == {"memory_changed", "session_closed"}
    assert session["view"]["lastWorkspaceMutation"]["source"] == "workspace_memory_remember"
