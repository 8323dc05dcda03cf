"""Requests that are sent again with the key of their first try, over HTTP."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.ids import new_uuid
from core.keys import LaneKeys
from core.workspaces import Workspaces
from events.connect import connect
from jobs.limits import MAX_PENDING
from memory.document import render_document
from memory.paths import find_roots
from tests.support.archives import tarred
from tests.support.callers import keyring_of, named
from tests.support.client_sessions import enter
from tests.support.lane_driver import LaneDriver
from tests.support.web_app import AppRequests, application
from tests.support.web_server import AUTHORIZED, Answer, WebServer

MEMORY = "/workspace/memory"
REMEMBER = f"{MEMORY}/remember"
FACT = {"content": "I prefer short answers."}


@pytest.fixture
def key() -> dict[str, str]:
    return {"Idempotency-Key": new_uuid()}


@pytest.fixture
def redis(redis_url: str) -> Any:
    return connect(redis_url)


@pytest.fixture(autouse=True)
def _drained(api: AppRequests, lane: LaneDriver) -> None:
    """The lane is empty, and stays far from its caps."""
    last = api.post(REMEMBER, FACT)
    if last.status == 202:
        lane.complete(last.json["taskId"])


def accepted(answer: Answer) -> tuple[int, str, str | None]:
    return answer.status, answer.json["taskId"], answer.headers.get("idempotent-replayed")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("remember", FACT | {"scope": "user", "contextMode": "clean"}),
        ("forget", {"query": "tea", "purge": True}),
        ("dream", {"dryRun": True}),
    ],
)
def test_the_same_request_again_gives_the_same_task(
    api: AppRequests, key: dict[str, str], path: str, body: dict[str, Any]
) -> None:
    first = api.post(f"{MEMORY}/{path}", body, headers=key)
    again = api.post(f"{MEMORY}/{path}", body | {"unknown": 1}, headers=key)

    assert accepted(first) == (202, first.json["taskId"], None)
    assert accepted(again) == (202, first.json["taskId"], "true")
    assert again.headers["location"] == first.headers["location"]


def test_an_archive_sent_again_gives_the_same_task(api: AppRequests, key: dict[str, str]) -> None:
    body = render_document(type="user", name="Tea", description="Tea", body="\nTea.\n")
    headers = {**AUTHORIZED, **key, "Content-Type": "application/gzip"}
    archives = [tarred(("user/tea.md", body), (other, b"")) for other in ("a.txt", "b.txt")]

    first, again = (
        api.request("POST", f"{MEMORY}/import", headers=headers, body=archive) for archive in archives
    )
    other = api.request("POST", f"{MEMORY}/import?conflict=skip", headers=headers, body=archives[0])

    assert accepted(again) == (202, first.json["taskId"], "true")  # what is imported is the same
    assert (other.status, other.json["code"]) == (422, "idempotency_mismatch")


def test_another_request_with_the_key_is_refused(api: AppRequests, redis: Any, key: dict[str, str]) -> None:
    first = api.post(REMEMBER, FACT, headers=key)
    pending = LaneKeys(first.json["workspaceId"]).pending

    for body in (FACT | {"scope": "user"}, FACT | {"dryRun": True}, {"content": "Something else."}):
        answer = api.post(REMEMBER, body, headers=key)
        assert (answer.status, answer.json["code"]) == (422, "idempotency_mismatch")
    assert redis.llen(pending) == 1


def test_a_key_is_a_kinds_and_a_workspaces_own(
    api: AppRequests, workspaces: Workspaces, key: dict[str, str]
) -> None:
    elsewhere = f"/workspaces/{list(workspaces)[1].id}/memory"
    answers = [
        api.post(f"{base}/{kind}", FACT | {"query": "x"}, headers=key)
        for base in (MEMORY, elsewhere)
        for kind in ("remember", "forget")
    ]

    assert {accepted(answer)[::2] for answer in answers} == {(202, None)}
    assert len({answer.json["taskId"] for answer in answers}) == 4


def test_a_key_is_a_clients_own(api: AppRequests, key: dict[str, str]) -> None:
    clients = [{"X-Qwen-Client-Id": enter(api)["clientId"]} for _ in range(2)]

    first, other = (api.post(REMEMBER, FACT, headers={**key, **client}) for client in clients)
    again = api.post(REMEMBER, FACT, headers={**key, **clients[0]})

    assert accepted(other)[::2] == (202, None)
    assert accepted(again) == (202, first.json["taskId"], "true")
    assert first.json["taskId"] != other.json["taskId"]


def test_a_key_is_a_tokens_own(redis_url: str, workspaces: Workspaces, key: dict[str, str]) -> None:
    people = [named("ada"), named("bob")]
    with application(redis_url, workspaces, keyring=keyring_of(*people)) as app:
        api = AppRequests(app)
        first, other = (api.post(REMEMBER, FACT, headers={**key, **one.headers}) for one in people)
        again = api.post(REMEMBER, FACT, headers={**key, **people[0].headers})

    assert accepted(other)[::2] == (202, None)
    assert accepted(again) == (202, first.json["taskId"], "true")
    assert first.json["taskId"] != other.json["taskId"]


def test_what_was_accepted_is_told_with_its_result_once_there_is_one(
    api: AppRequests, lane: LaneDriver, key: dict[str, str]
) -> None:
    first = api.post(REMEMBER, FACT, headers=key)
    lane.complete(first.json["taskId"])

    again = api.post(REMEMBER, FACT, headers=key)

    assert accepted(again) == (202, first.json["taskId"], "true")
    assert again.json["result"]["summary"] == "Saved."


def test_a_full_lane_still_tells_of_what_it_has_accepted(api: AppRequests, key: dict[str, str]) -> None:
    first = api.post(REMEMBER, FACT, headers=key)
    for _ in range(MAX_PENDING - 1):
        api.post(REMEMBER, FACT)

    assert api.post(REMEMBER, FACT).status == 429
    assert accepted(api.post(REMEMBER, FACT, headers=key)) == (202, first.json["taskId"], "true")
    assert api.post(f"{first.headers['location']}/cancel", {}).status == 202


def test_a_key_whose_task_is_forgotten_is_a_conflict(
    api: AppRequests, redis: Any, key: dict[str, str]
) -> None:
    first = api.post(REMEMBER, FACT, headers=key).json
    keys = LaneKeys(first["workspaceId"])
    redis.delete(keys.task(first["taskId"]))
    redis.delete(keys.pending)

    answer = api.post(REMEMBER, FACT, headers=key)

    assert (answer.status, answer.json["code"]) == (409, "idempotency_conflict")


@pytest.mark.parametrize("text", ["", "x" * 256, "\x7f", "\xe9"])
def test_what_can_be_no_key_is_refused_and_nothing_queued(api: AppRequests, redis: Any, text: str) -> None:
    index = LaneKeys(api.post(REMEMBER, FACT).json["workspaceId"]).index
    before = redis.zcard(index)

    answer = api.post(REMEMBER, FACT, headers={"Idempotency-Key": text})

    assert (answer.status, answer.json["code"]) == (400, "invalid_idempotency_key")
    assert redis.zcard(index) == before
    assert api.post(REMEMBER, {"content": ""}, headers={"Idempotency-Key": text}).json["code"] == (
        "invalid_content"
    )


def test_a_review_that_was_accepted_is_not_refused_for_what_it_has_done(
    api: AppRequests, memory_folder: Path, workspaces: Workspaces, key: dict[str, str]
) -> None:
    file = find_roots(memory_folder, workspaces.primary.path).user / "tea.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(
        render_document(type="user", name="Tea", description="Tea", body="\nTea.\n", extra={"review": "true"})
    )
    path = f"{MEMORY}/documents/user/tea.md"
    body = {"decision": "reject", "sha256": api.get(path).json["sha256"]}
    first = api.post(f"{path}/review", body, headers=key)

    file.unlink()  # as the task would

    assert accepted(api.post(f"{path}/review", body, headers=key)) == (202, first.json["taskId"], "true")
    assert api.post(f"{path}/review", body).status == 404
    other = api.post(f"{path}/review", body | {"decision": "approve"}, headers=key)
    assert (other.status, other.json["code"]) == (422, "idempotency_mismatch")


def test_fifty_at_once_over_two_instances_make_one_task(
    web: WebServer, another: WebServer, key: dict[str, str]
) -> None:
    instances = (web, another)
    assert {instance.get("/health").status for instance in instances} == {200}  # both are up and awake

    with ThreadPoolExecutor(50) as pool:
        answers = list(
            pool.map(lambda number: instances[number % 2].post(REMEMBER, FACT, headers=key), range(50))
        )

    assert {answer.status for answer in answers} == {202}
    assert len({answer.json["taskId"] for answer in answers}) == 1
    assert [answer.headers.get("idempotent-replayed") for answer in answers].count(None) == 1
