"""What the SDK does about a service that is away, busy or full."""

import pytest

from memlane.errors import MemlaneApiError, QueueFull, RateLimited, Unavailable, Unreachable
from memlane.models import StoredDocument, Task
from tests.support.scripted_client import DONE, TASK, client_of
from tests.support.scripted_service import Reply

AWAY = Reply(503, {"error": "Away", "code": "storage_unavailable"})
LOST = Reply(body=None)
FULL = Reply(429, {"error": "Full", "code": "remember_queue_full"}, {"Retry-After": "0"})
BUSY = Reply(429, {"error": "Busy", "code": "rate_limit_exceeded"}, {"Retry-After": "0"})
ACCEPTED = Reply(202, TASK)
WAITING = StoredDocument(scope="user", path="user/tea.md", name="Tea", sha256="0" * 64)


@pytest.mark.parametrize("failure", [AWAY, LOST, BUSY], ids=["away", "lost", "busy"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.remember("tea"),
        lambda client: client.forget("tea"),
        lambda client: client.dream(),
        lambda client: client.apply("forget-1"),
        lambda client: client.retry("forget-1"),
        lambda client: client.undo("r1"),
        lambda client: client.review(WAITING, "approve"),
        lambda client: client.import_memory(b"PK"),
    ],
    ids=["remember", "forget", "dream", "apply", "retry", "undo", "review", "import"],
)
def test_what_makes_a_task_is_sent_again_under_the_same_key(ask, failure):
    with client_of(failure, ACCEPTED, retry_s=5) as (client, service):
        ask(client)
        ask(client)

    first, again, other = (seen.headers["Idempotency-Key"] for seen in service.requests)
    assert first == again
    assert first != other
    assert service.requests[0].body == service.requests[1].body


def test_the_callers_own_key_is_used():
    with client_of(ACCEPTED) as (client, service):
        client.remember("tea", idempotency_key="order-7")

    assert service.requests[0].headers["Idempotency-Key"] == "order-7"


@pytest.mark.parametrize("failure", [AWAY, LOST], ids=["away", "lost"])
def test_what_is_read_is_read_again(failure):
    with client_of(failure, Reply(200, DONE), retry_s=5) as (client, service):
        assert client.get(TASK["taskId"]).finished

    assert "Idempotency-Key" not in service.requests[0].headers


@pytest.mark.parametrize(("failure", "kind"), [(AWAY, Unavailable), (LOST, Unreachable)])
def test_a_cancel_that_may_have_arrived_is_not_sent_again(failure, kind):
    with client_of(failure, ACCEPTED, retry_s=5) as (client, service), pytest.raises(kind):
        client.cancel("remember-1")

    assert len(service.requests) == 1
    assert "Idempotency-Key" not in service.requests[0].headers


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 500])
def test_a_refusal_is_final(status):
    with (
        client_of(Reply(status, {"code": "x"}), retry_s=5) as (client, service),
        pytest.raises(MemlaneApiError),
    ):
        client.remember("tea")

    assert len(service.requests) == 1


def test_tries_have_an_end():
    busy = Reply(429, {"code": "rate_limit_exceeded"}, {"Retry-After": "60"})
    with client_of(busy, retry_s=5) as (client, _), pytest.raises(RateLimited) as caught:
        client.get("remember-1")

    assert caught.value.retry_after_s == 60


def test_a_place_in_a_full_lane_is_waited_for_when_asked():
    with client_of(FULL, FULL, ACCEPTED, wait_for_place_s=5) as (client, service):
        assert client.remember("hello").status == "queued"

    assert len(service.requests) == 3


def test_without_being_asked_no_place_is_waited_for():
    with client_of(FULL, ACCEPTED, retry_s=5) as (client, _), pytest.raises(QueueFull):
        client.remember("hello")


def test_the_wait_for_a_place_has_a_bound():
    full = Reply(429, {"error": "Full", "code": "remember_queue_full"}, {"Retry-After": "60"})
    with client_of(full, wait_for_place_s=5) as (client, _), pytest.raises(QueueFull):
        client.remember("hello")


def test_a_wait_has_its_answers_held_back_until_there_is_news():
    held = Reply(200, TASK, {"Preference-Applied": "wait"})
    with client_of(held, held, Reply(200, DONE, {"Preference-Applied": "wait"})) as (client, service):
        assert client.wait(client.get(TASK["taskId"]), 20).finished

    asked = [seen.headers.get("Prefer") for seen in service.requests]
    assert asked[0] is None
    assert {int(str(prefer).removeprefix("wait=")) for prefer in asked[1:]} <= {18, 19, 20}


def test_a_wait_outlasts_a_service_that_has_had_too_many_requests():
    with client_of(BUSY, Reply(200, DONE)) as (client, _):
        assert client.wait(Task.model_validate(TASK)).finished
