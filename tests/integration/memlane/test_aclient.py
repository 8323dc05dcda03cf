"""The SDK for programs with an event loop; what it shares with the other one is tested there."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from core.errors import ConfigError
from memlane import AsyncClient
from memlane.errors import NotFound, Unreachable
from memlane.models import Event, Task
from tests.support.scripted_client import DONE, STREAM, TASK, frames
from tests.support.scripted_service import Reply, ScriptedService, scripted_service

_R = TypeVar("_R")


def asked(
    ask: Callable[[AsyncClient], Awaitable[_R]], *replies: Reply, retry_s: float = 0
) -> tuple[_R, ScriptedService]:
    """What a call gives with these replies of the service."""

    async def talk(url: str) -> _R:
        async with AsyncClient(url, "secret", reconnect_s=0, retry_s=retry_s, client_id="me") as client:
            return await ask(client)

    with scripted_service(replies) as service:
        return asyncio.run(talk(service.url)), service


def test_a_task_is_asked_for_and_waited_for():
    async def ask(client: AsyncClient) -> Task:
        return await client.wait(await client.remember("tea", scope="user"))

    task, service = asked(ask, Reply(202, TASK), Reply(200, TASK), Reply(200, DONE))

    assert task.finished
    assert [seen.method for seen in service.requests] == ["POST", "GET", "GET"]
    assert {seen.headers["X-Qwen-Client-Id"] for seen in service.requests} == {"me"}


def test_many_may_ask_at_once():
    async def ask(client: AsyncClient) -> list[Task]:
        return await asyncio.gather(*(client.remember(f"fact {number}") for number in range(4)))

    tasks, service = asked(ask, Reply(202, TASK))

    assert len(tasks) == 4
    assert len({seen.headers["Idempotency-Key"] for seen in service.requests}) == 4


def test_a_lost_request_is_sent_again():
    tasks, service = asked(
        lambda client: client.remember("tea"), Reply(body=None), Reply(202, TASK), retry_s=5
    )

    assert tasks.status == "queued"
    assert service.requests[0].headers["Idempotency-Key"] == service.requests[1].headers["Idempotency-Key"]


def test_a_refusal_is_an_error():
    with pytest.raises(NotFound):
        asked(lambda client: client.get("remember-1"), Reply(404, {"code": "remember_task_not_found"}))


def test_no_service_is_unreachable():
    with scripted_service([Reply()]) as service:
        url = service.url

    async def ask() -> None:
        async with AsyncClient(url, "secret", retry_s=0) as client:
            await client.dream()

    with pytest.raises(Unreachable) as caught:
        asyncio.run(ask())
    assert not caught.value.maybe_arrived


def test_events_are_resumed_where_the_stream_broke():
    async def ask(client: AsyncClient) -> list[Event]:
        stream = client.events(last_event_id=3)
        events = [await anext(stream) for _ in range(3)]
        await stream.aclose()
        return events

    first = Reply(200, frames((4, "task_queued"), (5, "task_running")), STREAM)
    second = Reply(200, frames((6, "memory_changed")), STREAM)

    events, service = asked(ask, first, Reply(503, {}), second)

    assert [event.id for event in events] == [4, 5, 6]
    assert [seen.headers["Last-Event-ID"] for seen in service.requests] == ["3", "5", "5"]


def test_documents_are_fetched_page_by_page():
    async def ask(client: AsyncClient) -> list[str]:
        return [document.name async for document in client.documents()]

    pages = [
        Reply(200, {"documents": [{"scope": "user", "path": "a.md", "name": "a"}], "nextCursor": "x"}),
        Reply(200, {"documents": [{"scope": "user", "path": "b.md", "name": "b"}], "nextCursor": None}),
    ]

    names, _ = asked(ask, *pages)

    assert names == ["a", "b"]


@pytest.mark.parametrize("client_id", ["", "a b", "x" * 129])
def test_a_client_id_that_can_not_be_sent_is_refused(client_id):
    with pytest.raises(ConfigError, match="a client id has 1 to 128 characters"):
        AsyncClient("http://127.0.0.1", "secret", client_id=client_id)
