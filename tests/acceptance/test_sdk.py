"""The SDK's examples, as the pages print them, and what both clients are worth on a real service."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlane.client import Client
from memlane.errors import MemlaneApiError, NotFound
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


def test_a_request_is_done_once_however_often_it_is_sent_under_its_key(service: Running):
    with Client(service.url, service.token) as client:
        first = client.remember("The lift is on the left.", idempotency_key="lift")
        again = client.remember("The lift is on the left.", idempotency_key="lift")
        with pytest.raises(MemlaneApiError) as refused:
            client.remember("The stairs are on the right.", idempotency_key="lift")

        assert again.task_id == first.task_id
        assert refused.value.code == "idempotency_mismatch"
        assert client.wait(first).outcome == "completed"


def test_a_task_that_has_ended_is_asked_for_again_and_both_are_listed(service: Running):
    with Client(service.url, service.token) as client:
        done = client.wait(client.dream(scope="user"))
        again = client.wait(client.retry(done.task_id))

        listed = [task.task_id for task in client.tasks(kind="dream", outcome="completed")]
        assert again.retry_of == done.task_id
        assert listed[:2] == [again.task_id, done.task_id]


def test_what_a_client_of_a_session_asks_for_is_seen_by_that_client_only(service: Running):
    with (
        Client(service.url, service.token) as client,
        Client(service.url, service.token) as other,
        client.attach() as session,
    ):
        task = client.wait(client.remember("The bicycle is red."))
        other.attach()

        with pytest.raises(NotFound):
            other.get(task.task_id)
        with Client(service.url, service.token, client_id=client.client_id) as later:
            assert later.get(task.task_id).outcome == "completed"
        changes = (event for event in session.events(last_event_id=0) if event.type == "memory_changed")
        assert next(one for one in changes if one.data["taskId"] == task.task_id).originator_client_id == (
            client.client_id
        )


def test_a_session_that_is_closed_ends_its_events(service: Running):
    with Client(service.url, service.token) as client:
        session = client.attach(shared=False)
        events = session.events(last_event_id=0)
        next(events)

        session.end()

        assert [event.type for event in events][-1] == "session_closed"
        with pytest.raises(NotFound):
            session.heartbeat()


def test_an_operator_holds_a_lane_and_lets_it_go(service: Running):
    with Client(service.url, service.token) as client:
        (lane,) = client.operators.lanes()
        assert client.operators.hold(lane.workspace_id).held
        waiting = client.dream()

        assert client.operators.lanes()[0].depth == 1
        assert not client.operators.unhold(lane.cwd).held
        assert client.wait(waiting).outcome == "completed"
        assert [act.action for act in client.operators.audit()][:2] == ["unhold_lane", "hold_lane"]
        assert client.operators.workers()[0].model == "offline"
        assert client.operators.stats().counters["ended:dream:completed"] > 0
