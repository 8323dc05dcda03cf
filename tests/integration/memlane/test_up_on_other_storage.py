"""`memlane up` on a Redis of one's own, and on a memory folder that the lanes don't know."""

import subprocess
from pathlib import Path

import pytest

from events.connect import connect
from memlane.client import Client
from memlane.embedded import EmbeddedRedis
from tests.support.memlane_up import command, environment, running_memlane
from tests.support.redis_server import engine_or_skip


@pytest.fixture(autouse=True)
def needs_an_engine():
    engine_or_skip()


def one_line_of(folder: Path, *arguments: str, status: int) -> str:
    """What a start that must fail says."""
    answer = subprocess.run(
        command(folder, *arguments),
        env=environment(folder),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert answer.returncode == status, answer.stderr
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1, answer.stderr
    return answer.stderr


@pytest.mark.parametrize(
    ("url", "status", "complaint"),
    [("nonsense", 2, "must start with redis://"), ("redis://127.0.0.1:1/0", 3, "Redis gave no answer")],
)
def test_a_redis_that_can_not_be_used_is_one_line(tmp_path, url, status, complaint):
    assert complaint in one_line_of(tmp_path, "--redis-url", url, status=status)


def test_a_redis_of_ones_own_is_used_and_left_running(tmp_path, own_redis):
    with running_memlane(tmp_path, ["--redis-url", own_redis.state_url]) as service:
        with Client(service.url, service.token) as client:
            assert client.wait(client.remember("The default branch is trunk."), 30).status == "completed"
        assert service.redis_url == own_redis.state_url

    with connect(own_redis.state_url) as client:
        assert client.ping()


def forget_to_persist(redis: EmbeddedRedis) -> None:
    with connect(redis.state_url) as client:
        client.config_set("appendonly", "no")


def test_a_redis_that_would_lose_tasks_is_refused_with_the_mend(tmp_path, own_redis):
    forget_to_persist(own_redis)

    complaint = one_line_of(tmp_path, "--redis-url", own_redis.state_url, status=2)

    assert "set `appendonly yes`" in complaint
    assert "MEMLANE_REDIS_CHECK=warn" in complaint


def test_a_redis_that_would_lose_tasks_is_good_enough_for_who_says_so(tmp_path, own_redis):
    forget_to_persist(own_redis)
    told = environment(tmp_path, MEMLANE_REDIS_CHECK="warn")

    with running_memlane(tmp_path, ["--redis-url", own_redis.state_url], env=told) as service:
        assert service.url


def test_another_memory_folder_is_refused_until_it_is_adopted(tmp_path):
    with running_memlane(tmp_path) as service, Client(service.url, service.token) as client:
        assert client.wait(client.remember("Tests are run with pytest."), 30).status == "completed"
    (tmp_path / "memory").rename(tmp_path / "elsewhere")

    complaint = one_line_of(tmp_path, status=2)

    assert "was in another memory folder so far" in complaint
    assert "--adopt-memory" in complaint
    with (
        running_memlane(tmp_path, ["--adopt-memory"]) as service,
        Client(service.url, service.token) as client,
    ):
        assert client.wait(client.remember("Tests are run with pytest."), 30).status == "completed"
