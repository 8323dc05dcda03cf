"""Folders that come and go below a running service."""

import shutil
from pathlib import Path

from core import clock
from memlane.client import Client
from memlane.errors import MemlaneApiError, Unreachable
from memlane.models import Task
from tests.support.memlane_up import environment, running_memlane
from tests.support.service import commits_in, kill, part_of

PASSING = ("managed_memory_unavailable", "storage_unavailable", Unreachable.code)


def test_nothing_is_written_where_a_volume_vanished_and_it_works_again_once_it_is_back(start, memory: Path):
    service = start()
    with Client(service.url, service.token, limit_s=20) as client:
        before = client.wait(client.remember("The staging database is called heron."), 30)
        away = memory.rename(memory.with_name("away"))
        memory.mkdir()

        refused = client.wait(client.remember("Releases are cut on Mondays."), 30)

        assert refused.error is not None
        assert (refused.status, refused.error.code) == ("failed", "managed_memory_unavailable")
        assert list(memory.iterdir()) == []

        memory.rmdir()
        away.rename(memory)
        after = client.wait(remember_once_accepted(client, "Tests are run with pytest."), 30)

    assert (before.status, after.status) == ("completed", "completed")
    assert commits_in(memory) == [before.task_id, after.task_id]


def remember_once_accepted(client: Client, content: str) -> Task:
    """Ask again while a part is on its way back, or has not seen yet that memory can be used again."""
    deadline_ms = clock.boot_ms() + 30_000
    while True:
        try:
            return client.remember(content)
        except (MemlaneApiError, Unreachable) as error:
            if error.code not in PASSING or clock.boot_ms() > deadline_ms:
                raise


def test_a_workspace_folder_that_was_deleted_keeps_no_part_from_starting_again(start, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    service = start("--workspace", str(other))
    shutil.rmtree(other)
    for part in ("worker", "web"):
        kill(part_of(service, part))

    with Client(service.url, service.token, limit_s=30) as client:
        task = client.wait(remember_once_accepted(client, "The build runs on Debian."), 30)

    assert task.status == "completed"


def test_two_services_on_one_memory_folder_don_t_get_in_each_others_way(start, tmp_path: Path, memory: Path):
    one = start()
    home = ["--home", str(tmp_path / "other-home")]
    with (
        running_memlane(tmp_path, home, env=environment(tmp_path)) as two,
        Client(one.url, one.token) as first,
        Client(two.url, two.token) as second,
    ):
        tasks = [
            client.wait(client.remember(f"Part {number} is kept in hall {number % 7}."), 60)
            for number, client in enumerate([first, second] * 4)
        ]

    assert [(task.status, task.attempt) for task in tasks] == [("completed", 1)] * 8
    assert sorted(commits_in(memory)) == sorted(task.task_id for task in tasks)
