"""``Prefer: wait`` on a task, over HTTP."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from core.workspaces import Workspaces
from events.connect import connect
from memlane.embedded import EmbeddedRedis
from tests.support.lane_driver import LaneDriver
from tests.support.waiting import until
from tests.support.web_app import AppRequests, application
from tests.support.web_server import AUTHORIZED, Answer, Requests, running_web
from web.route import routes_of
from web.watch import TaskWatch

REMEMBER = "/workspace/memory/remember"
LONG = {"Prefer": "wait=90"}


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def queued(api: Requests) -> str:
    """Path of a task that waits in its lane."""
    location: str = api.post(REMEMBER, {"content": "x"}).headers["location"]
    return location


def id_in(path: str) -> str:
    return path.rpartition("/")[2]


def test_who_waits_is_answered_once_the_task_has_ended(
    api: AppRequests, lane: LaneDriver, pool: ThreadPoolExecutor
) -> None:
    path = queued(api)
    waiting: Future[Answer] = pool.submit(api.get, path, headers=LONG)

    lane.complete(id_in(path))

    answer = waiting.result()
    assert (answer.status, answer.json["status"]) == (200, "completed")
    assert answer.headers["preference-applied"] == "wait=60"


def test_who_says_what_it_knows_is_answered_as_soon_as_that_is_old(
    api: AppRequests, lane: LaneDriver, pool: ThreadPoolExecutor
) -> None:
    path = queued(api)
    lane.start(id_in(path))
    known = api.get(path).headers["etag"]
    waiting: Future[Answer] = pool.submit(api.get, path, headers={**LONG, "If-None-Match": known})

    lane.tell_progress(turn=2)

    answer = waiting.result()
    assert (answer.status, answer.json["status"]) == (200, "running")
    assert answer.json["progress"]["turn"] == 2


def test_who_knows_a_tasks_place_is_told_when_it_is_another(
    api: AppRequests, lane: LaneDriver, pool: ThreadPoolExecutor
) -> None:
    first, second = queued(api), queued(api)
    lane.start(id_in(first))
    third = queued(api)
    known = api.get(third).headers["etag"]
    waiting: Future[Answer] = pool.submit(api.get, third, headers={**LONG, "If-None-Match": known})

    lane.start(id_in(second))

    assert waiting.result(timeout=30).json["position"] == 1


def test_when_the_time_is_up_the_task_is_told_as_it_stands(api: AppRequests) -> None:
    path = queued(api)

    plain = api.get(path, headers={"Prefer": "wait=0"})
    known = api.get(path, headers={"Prefer": "wait=0", "If-None-Match": plain.headers["etag"]})

    assert (plain.status, plain.json["status"]) == (200, "queued")
    assert (known.status, known.raw) == (304, b"")
    assert {one.headers["preference-applied"] for one in (plain, known)} == {"wait=0"}


@pytest.mark.parametrize("prefer", ["wait=soon", "respond-async"])
def test_another_wish_is_not_said_to_be_fulfilled(api: AppRequests, prefer: str) -> None:
    answer = api.get(queued(api), headers={"Prefer": prefer})

    assert answer.status == 200
    assert "preference-applied" not in answer.headers


def test_a_request_for_the_head_does_not_wait(api: AppRequests) -> None:
    answer = api.request("HEAD", queued(api), headers={**AUTHORIZED, **LONG})

    assert (answer.status, answer.raw) == (200, b"")
    assert "preference-applied" not in answer.headers


def test_a_task_that_is_not_there_is_not_waited_for(api: AppRequests) -> None:
    assert api.get(f"{REMEMBER}/remember-1", headers=LONG).status == 404


def test_a_server_that_stops_answers_who_waits_at_once(
    own_redis: EmbeddedRedis, tmp_path: Path, pool: ThreadPoolExecutor
) -> None:
    redis: Any = connect(own_redis.state_url)

    def looks() -> int:
        calls: int = redis.info("commandstats").get("cmdstat_hgetall", {"calls": 0})["calls"]
        return calls

    with running_web(own_redis.state_url, [tmp_path], folder=tmp_path) as web:
        path = queued(web)
        before = looks()
        waiting: Future[Answer] = pool.submit(web.get, path, headers=LONG)
        until(lambda: looks() >= before + 2)  # it has subscribed by then

        assert web.stop() == 0

    answer = waiting.result()
    assert (answer.status, answer.json["status"]) == (200, "queued")


def test_who_finds_no_place_to_wait_is_answered_at_once(redis_url: str, workspaces: Workspaces) -> None:
    with application(redis_url, workspaces) as app:
        routes = cast("Any", routes_of(app)["find_remember"].view).func.__self__
        routes._watch = TaskWatch(routes._watch._hub, most=0)
        api = AppRequests(app)
        path = queued(api)

        answer = api.get(path, headers=LONG)

    assert (answer.status, answer.json["status"]) == (200, "queued")
    assert "preference-applied" not in answer.headers
