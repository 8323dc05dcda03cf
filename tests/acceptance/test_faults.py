"""What dies is healed without help: nothing accepted is lost, nothing is committed twice."""

import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from core.workspaces import Workspaces
from memlane.client import Client
from memlane.errors import Unavailable
from tests.support.memlane_up import Running, StartService
from tests.support.scripted_model import ScriptedModel, calls, document, scripted_model, silent
from tests.support.service import agent_of, commits_in, events_of, kill, part_of
from tests.support.waiting import until

KEY = {"OPENAI_API_KEY": "sk-test", "OPENAI_MODEL": "scripted-1"}


def write(memory: Path, name: str = "fact"):
    target = memory / "memories" / "user" / f"{name}.md"
    return calls(("write_file", {"file_path": str(target), "content": document(name=name)}))


def with_model(start: StartService, model: ScriptedModel, **settings: str) -> Running:
    return start(OPENAI_BASE_URL=model.base_url, **KEY, **settings)


def test_a_child_killed_in_mid_task_fails_that_task_and_the_next_gets_a_new_child(start, memory: Path):
    with scripted_model([silent(), write(memory)]) as model:
        service = with_model(start, model)
        with Client(service.url, service.token) as client:
            first = client.remember("A fact.")
            assert model.requested.wait(20)
            worker = part_of(service, "worker")
            lost = agent_of(worker)
            kill(lost)
            first = client.wait(first)
            second = client.wait(client.remember("Another fact."))

            assert first.error is not None
            assert (first.status, first.error.code) == ("failed", "remember_failed")
            assert second.status == "completed"
            assert agent_of(worker) != lost
    assert commits_in(memory) == [second.task_id]


def test_a_worker_killed_in_mid_task_costs_one_attempt_and_there_is_one_commit(
    start, memory: Path, workspace: Path
):
    with scripted_model([silent(), write(memory)]) as model:
        service = with_model(
            start, model, MEMLANE_LEASE_MS="2500", MEMLANE_RENEW_MS="500", MEMLANE_MARGIN_MS="500"
        )
        with Client(service.url, service.token) as client:
            task = client.remember("A fact.")
            assert model.requested.wait(20)
            worker = part_of(service, "worker")
            agent = agent_of(worker)
            kill(worker)
            task = client.wait(task)
            changes = [event.type for event in events_of(service, workspace)].count("memory_changed")

    assert (task.status, task.attempt) == ("completed", 2)
    assert commits_in(memory) == [task.task_id]
    assert changes == 1
    until(lambda: not Path(f"/proc/{agent}").exists())


def test_a_child_that_dies_between_commit_and_answer_has_completed_the_task(
    start, memory: Path, tmp_path: Path, workspace: Path
):
    script = Path(__file__).parents[1] / "support" / "crashing_agent.py"
    command = shlex.join([sys.executable, "-P", str(script), str(tmp_path / "died")])
    service = start(MEMLANE_AGENT_COMMAND=command)
    with Client(service.url, service.token) as client:
        task = client.wait(client.remember("I prefer short answers."))
        changes = [event.type for event in events_of(service, workspace)].count("memory_changed")

    assert (tmp_path / "died").exists()
    assert (task.status, task.attempt, task.revision) == ("completed", 1, "r1")
    assert commits_in(memory) == [task.task_id]
    assert changes == 1
    assert "I prefer short answers." in next((memory / "memories").rglob("*/*.md")).read_text()


def test_redis_killed_between_tasks_loses_nothing_that_was_acknowledged(start, memory: Path):
    service = start()
    with Client(service.url, service.token) as client:
        accepted = [client.remember(f"The build number {number} is green.") for number in range(12)]
        kill(part_of(service, "redis"))
        ended = [client.wait(task) for task in accepted]

    assert [task.status for task in ended] == ["completed"] * 12
    assert sorted(commits_in(memory)) == sorted(task.task_id for task in accepted)


def test_while_redis_is_away_nothing_is_accepted_and_afterwards_all_goes_on(start, memory: Path):
    service = start()
    with Client(service.url, service.token, limit_s=30, retry_s=0) as client:
        client.wait(client.remember("Before."))
        redis = part_of(service, "redis")
        os.kill(redis, signal.SIGSTOP)
        with pytest.raises(Unavailable) as refused:
            client.remember("During.")
        os.kill(redis, signal.SIGCONT)
        after = client.wait(client.remember("After."))

    assert (refused.value.status, refused.value.code) == (503, "storage_unavailable")
    assert after.status == "completed"


def test_the_service_goes_on_where_it_was_stopped(start, memory: Path):
    with scripted_model([silent(), *(write(memory, f"f{number}") for number in range(3))]) as model:
        service = with_model(start, model)
        with Client(service.url, service.token) as client:
            accepted = [client.remember(f"Fact {number}.") for number in range(3)]
            assert model.requested.wait(20)
        service.process.terminate()
        assert service.process.wait(20) == 0

        again = with_model(start, model)
        with Client(again.url, again.token) as client:
            ended = [client.wait(task) for task in accepted]

    assert [(task.status, task.attempt) for task in ended] == [("completed", 1)] * 3
    assert commits_in(memory) == [task.task_id for task in accepted]


def test_workspaces_of_one_service_have_lanes_of_their_own(start, tmp_path: Path, memory: Path):
    other = tmp_path / "other"
    other.mkdir()
    with scripted_model([silent(), write(memory)]) as model:
        service = start("--workspace", str(other), OPENAI_BASE_URL=model.base_url, **KEY)
        with Client(service.url, service.token) as client:
            stuck = client.remember("Stuck.")
            assert model.requested.wait(20)
            free = client.wait(client.remember("Free.", workspace=str(other)))

            assert free.status == "completed"
            assert client.get(stuck.task_id).status == "running"
            assert free.workspace_id == Workspaces([str(other)]).primary.id
