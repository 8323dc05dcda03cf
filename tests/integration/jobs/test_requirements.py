import socket
import threading

import pytest

from core.keys import CONFIG, LaneKeys
from core.settings import Settings
from events.connect import connect
from events.errors import StorageUnavailable
from jobs.client import open_jobs, require_fit_redis
from jobs.errors import RedisUnfit
from jobs.requirements import check_redis, find_problems
from jobs.tasks import Submission
from memlane.embedded import EmbeddedRedis
from tests.support.lane import fresh_workspace_id


def test_the_embedded_server_is_fit(own_redis: EmbeddedRedis):
    client = connect(own_redis.state_url)

    check_redis(client, strict=True)
    check_redis(client, strict=True)  # the second process finds the layout of the first

    assert client.hget(CONFIG, "partitions") == "64"


@pytest.mark.parametrize(
    ("setting", "value", "mend"),
    [
        ("appendonly", "no", "appendonly yes"),
        ("appendfsync", "no", "appendfsync always"),
        ("maxmemory-policy", "allkeys-lru", "maxmemory-policy noeviction"),
    ],
)
def test_a_redis_that_may_lose_tasks_is_refused_with_its_mend(
    own_redis: EmbeddedRedis, setting: str, value: str, mend: str
):
    client = connect(own_redis.state_url)
    client.config_set(setting, value)

    with pytest.raises(RedisUnfit, match=mend):
        check_redis(client, strict=True)
    assert not client.exists(CONFIG)

    check_redis(client, strict=False)  # told so, it only warns


def test_a_clock_that_is_far_off_is_found(own_redis: EmbeddedRedis, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jobs.requirements.wall_ms", lambda: 0)

    assert any("synchronise" in problem for problem in find_problems(connect(own_redis.state_url)))


@pytest.mark.parametrize(
    ("facts", "too_old"),
    [
        ({"redis_version": "7.0.15"}, False),
        ({"redis_version": "6.2.14"}, True),
        ({"redis_version": "7.2.4", "valkey_version": "7.2.0"}, False),
        ({"redis_version": "7.2.4", "valkey_version": "7.1.9"}, True),
        ({"redis_version": "10.0.0"}, False),
    ],
)
def test_versions_are_judged_by_the_servers_own(
    own_redis: EmbeddedRedis, monkeypatch: pytest.MonkeyPatch, facts: dict[str, str], too_old: bool
):
    client = connect(own_redis.state_url)
    rest = {name: value for name, value in client.info().items() if not name.endswith("_version")}
    monkeypatch.setattr(client, "info", lambda: {**rest, **facts})

    assert any("too old" in problem for problem in find_problems(client)) is too_old


def test_keys_of_another_layout_are_refused_even_when_told_to_warn(own_redis: EmbeddedRedis):
    client = connect(own_redis.state_url)
    client.hset(CONFIG, "partitions", "128")

    with pytest.raises(RedisUnfit, match="another version"):
        check_redis(client, strict=False)


def test_a_redis_that_is_away_is_not_judged():
    assert not require_fit_redis(Settings(redis_url="redis://127.0.0.1:1/0"))


def test_the_settings_say_how_strict_to_be(own_redis: EmbeddedRedis):
    connect(own_redis.state_url).config_set("appendonly", "no")

    require_fit_redis(Settings(redis_url=own_redis.state_url, redis_check="warn"))
    with pytest.raises(RedisUnfit):
        require_fit_redis(Settings(redis_url=own_redis.state_url))


def test_a_redis_that_was_away_at_the_start_is_looked_at_before_anything_is_accepted(
    own_redis: EmbeddedRedis,
):
    settings = Settings(redis_url=own_redis.state_url)
    client = connect(own_redis.state_url)
    client.config_set("appendonly", "no")
    jobs = open_jobs(settings, is_checked=False)
    workspace = fresh_workspace_id()
    submission = Submission("remember", {"content": "a fact"})

    with pytest.raises(StorageUnavailable, match="not fit"):
        jobs.submit(workspace, submission)
    assert not client.exists(LaneKeys(workspace).lane)

    client.config_set("appendonly", "yes")
    assert jobs.submit(workspace, submission).status == "queued"


def test_a_server_that_forbids_the_question_is_not_held_against_it(own_redis: EmbeddedRedis):
    client = connect(own_redis.state_url)
    client.execute_command("ACL", "SETUSER", "default", "-config")

    assert find_problems(client) == []


def test_a_redis_that_stops_persisting_while_we_serve_is_given_nothing_more(own_redis: EmbeddedRedis):
    jobs = open_jobs(Settings(redis_url=own_redis.state_url))
    connect(own_redis.state_url).config_set("appendonly", "no")

    with pytest.raises(StorageUnavailable, match="not fit"):
        jobs.submit(fresh_workspace_id(), Submission("remember", {"content": "a fact"}))


def test_one_who_was_told_only_to_warn_accepts_all_the_same(own_redis: EmbeddedRedis):
    jobs = open_jobs(Settings(redis_url=own_redis.state_url, redis_check="warn"))
    connect(own_redis.state_url).config_set("appendonly", "no")

    task = jobs.submit(fresh_workspace_id(), Submission("remember", {"content": "a fact"}))

    assert task.status == "queued"


def test_a_server_of_another_kind_counts_as_away():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        def greet() -> None:
            connection, _ = other.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=greet, daemon=True).start()

        assert not require_fit_redis(Settings(redis_url=f"redis://127.0.0.1:{port}/0"))
