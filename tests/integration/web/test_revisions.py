"""What was committed to a workspace's memory, over HTTP."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.workspaces import Workspaces
from memory.document import render_document
from memory.paths import Roots, find_roots
from memory.store import open_store
from tests.support.lane_driver import LaneDriver
from tests.support.memory import BOTH, describe, fenced_task
from tests.support.web_server import WebServer, running_web

REVISIONS = "/workspace/memory/revisions"


@pytest.fixture(scope="module")
def web(redis_url: str, paths: list[Path], tmp_path_factory: pytest.TempPathFactory):
    with running_web(redis_url, paths, folder=tmp_path_factory.mktemp("revisions")) as server:
        commit = committer(server, find_roots(server.memory, Workspaces(map(str, paths)).primary.path))
        commit("user/tea.md", "Tea")
        commit("user/tea.md", "Green tea")
        commit("user/coffee.md", "Coffee")
        yield server


def committer(web: WebServer, roots: Roots) -> Callable[[str, str], None]:
    store = open_store(web.memory)

    def commit(path: str, name: str) -> None:
        task = fenced_task()
        store.seal(task)
        transaction = store.begin(task, roots, writable=BOTH)
        if (roots.user / path).exists():
            transaction.read(str(roots.user / path))
        body = render_document(type="user", name=name, description=name, body="\nYes.\n")
        transaction.write(str(roots.user / path), body)
        store.commit(transaction, result_of=describe)

    return commit


def test_revisions_are_listed_newest_first_in_pages(web: WebServer) -> None:
    first = web.request("GET", f"{REVISIONS}?limit=2")
    second = web.request("GET", first.headers["link"].removeprefix("<").partition(">")[0])

    assert [one["revision"] for one in first.json["revisions"]] == ["r3", "r2"]
    assert [one["revision"] for one in second.json["revisions"]] == ["r1"]
    assert (second.json["nextBefore"], "link" in second.headers) == (None, False)
    newest = first.json["revisions"][0]
    assert newest["documents"] == [{"scope": "user", "path": "user/coffee.md"}]
    assert newest["kind"] == "remember"


def test_the_history_of_one_document_is_told(web: WebServer) -> None:
    answer = web.request("GET", f"{REVISIONS}?scope=user&path=user/tea.md")

    assert [one["revision"] for one in answer.json["revisions"]] == ["r2", "r1"]


def test_a_revision_is_shown_with_its_diff(web: WebServer) -> None:
    shown = web.request("GET", f"{REVISIONS}/r2").json

    (diff,) = shown["diff"]
    assert (diff["scope"], diff["path"], diff["change"]) == ("user", "user/tea.md", "updated")
    assert "-name: Tea\n" in diff["diff"]
    assert "+name: Green tea\n" in diff["diff"]


def test_an_undo_is_queued_as_a_task_of_its_own(web: WebServer, lane: LaneDriver) -> None:
    answer = web.post(f"{REVISIONS}/r2/undo", {})

    task_id = answer.json["taskId"]
    assert answer.status == 202
    assert task_id.startswith("undo-")
    assert answer.headers["location"] == f"/workspace/memory/tasks/{task_id}"
    lane.complete(task_id, {"summary": "Took r2 back.", "touchedScopes": ["user"]})
    assert web.request("GET", answer.headers["location"]).json["result"]["summary"] == "Took r2 back."


@pytest.mark.parametrize("revision", ["r4", "r0", "r99999999999999999999", "2", "r1x", "r%20"])
def test_an_unknown_revision_is_not_found_and_queues_nothing(web: WebServer, revision: str) -> None:
    for answer in (
        web.request("GET", f"{REVISIONS}/{revision}"),
        web.post(f"{REVISIONS}/{revision}/undo", {}),
    ):
        assert (answer.status, answer.json["code"]) == (404, "revision_not_found")


@pytest.mark.parametrize(
    ("query", "status"),
    [("limit=0", 400), ("limit=201", 400), ("path=x", 400), ("path=x&scope=all", 400), ("before=x", 404)],
)
def test_a_query_that_makes_no_sense_is_refused(web: WebServer, query: str, status: int) -> None:
    assert web.request("GET", f"{REVISIONS}?{query}").status == status


def test_a_revision_of_another_workspaces_project_is_not_shown(
    web: WebServer, workspaces: Workspaces
) -> None:
    second = list(workspaces)[1]
    roots = find_roots(web.memory, second.path)
    store, task = open_store(web.memory), fenced_task()
    store.seal(task)
    transaction = store.begin(task, roots, writable=BOTH)
    body = render_document(type="project", name="CI", description="CI", body="\nYes.\n")
    transaction.write(str(roots.project / "project/ci.md"), body)
    revision = store.commit(transaction, result_of=describe)["revision"]

    assert web.request("GET", f"{REVISIONS}/{revision}").status == 404
    assert web.request("GET", f"/workspaces/{second.id}/memory/revisions/{revision}").status == 200
