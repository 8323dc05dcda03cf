"""Several workers on one Redis: strict order in each workspace, one task at a time, each exactly once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from memlane.client import Client
from memlane.errors import QueueFull
from memlane.models import Task
from tests.support.service import commits_in, events_of, facts, further_worker
from tests.support.waiting import until

WORKSPACES = 5
TASKS = 40


def test_two_workers_keep_the_order_of_200_tasks_over_five_workspaces(start, tmp_path: Path, memory: Path):
    folders = [tmp_path / f"w{number}" for number in range(WORKSPACES)]
    for folder in folders:
        folder.mkdir()
    service = start(*(word for folder in folders for word in ("--workspace", str(folder))))
    with further_worker(service, tmp_path, folders), Client(service.url, service.token) as client:
        with ThreadPoolExecutor(WORKSPACES) as pool:
            accepted = list(pool.map(lambda folder: submit_all(client, folder), folders))
        ended = [[client.wait(task) for task in tasks] for tasks in accepted]
        logs = [events_of(service, folder) for folder in folders]

    for tasks, log in zip(ended, logs, strict=True):
        assert [(task.status, task.attempt) for task in tasks] == [("completed", 1)] * TASKS
        ids = [task.task_id for task in tasks]
        runs = [event for event in log if event.type in ("task_running", "task_completed")]
        # started in the order of acceptance, and never a start before the end of the one before
        assert [facts(event)["taskId"] for event in runs] == [task for task in ids for _ in range(2)]
        assert [event.type for event in runs] == ["task_running", "task_completed"] * TASKS
        assert [event.id for event in log] == list(range(1, len(log) + 1))
    everything = [task.task_id for tasks in ended for task in tasks]
    assert sorted(commits_in(memory)) == sorted(everything)


def submit_all(client: Client, folder: Path) -> list[Task]:
    return [submit(client, folder, number) for number in range(TASKS)]


def submit(client: Client, folder: Path, number: int) -> Task:
    accepted: list[Task] = []

    def attempt() -> bool:
        try:
            accepted.append(client.remember(f"{folder.name} keeps fact {number}.", workspace=str(folder)))
        except QueueFull:
            return False
        return True

    until(attempt, limit_s=60)
    return accepted[0]
