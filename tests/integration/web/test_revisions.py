"""What was committed to a workspace's memory, over HTTP."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def test_an_undo_that_is_known_to_come_to_nothing_is_refused_at_once_if_nothing_is_before_it(
    web: WebServer, lane: LaneDriver, workspaces: Workspaces
) -> None:
    roots = find_roots(web.memory, workspaces.primary.path)
    coffee = roots.user / "user/coffee.md"
    before = coffee.read_bytes()

    coffee.write_bytes(before + b"And milk.\n")
    conflict = web.post(f"{REVISIONS}/r3/undo", {})
    coffee.unlink()
    undone = web.post(f"{REVISIONS}/r3/undo", {})
    waiting = web.post("/workspace/memory/remember", {"content": "Coffee again."}).json["taskId"]
    queued = web.post(f"{REVISIONS}/r3/undo", {})
    lane.complete(waiting)
    lane.complete(queued.json["taskId"], {"summary": "Took r3 back.", "touchedScopes": []})
    coffee.write_bytes(before)

    assert (conflict.status, conflict.json["code"]) == (409, "memory_conflict")
    assert conflict.json["documents"] == ["user/user/coffee.md"]
    assert (undone.status, undone.json["code"]) == (409, "revision_undone")
    assert queued.status == 202


def test_a_preview_that_is_known_to_be_stale_is_refused_at_once_and_never_its_repeated_application(
    web: WebServer, lane: LaneDriver, workspaces: Workspaces
) -> None:
    forget = "/workspace/memory/forget"
    task_id = web.post(forget, {"query": "tea", "dryRun": True}).json["taskId"]
    roots = find_roots(web.memory, workspaces.primary.path)
    tea = roots.user / "user/tea.md"
    before = tea.read_bytes()
    shown = preview(web, roots, task_id, tea)
    lane.complete(task_id, shown | {"removedEntries": [], "touchedTopics": []})

    tea.write_bytes(before + b"Or black.\n")
    stale = web.post(f"{forget}/{task_id}/apply", {})
    tea.write_bytes(before)
    fresh = web.post(f"{forget}/{task_id}/apply", {})
    lane.complete(fresh.json["taskId"])
    tea.write_bytes(before + b"Or black.\n")
    again = web.post(f"{forget}/{task_id}/apply", {})
    tea.write_bytes(before)

    assert (stale.status, stale.json["code"]) == (409, "preview_stale")
    assert stale.json["documents"] == ["user/user/tea.md"]
    assert (fresh.status, again.status) == (202, 202)
    assert again.json["taskId"] == fresh.json["taskId"]


def preview(web: WebServer, roots: Roots, task_id: str, path: Path) -> dict[str, Any]:
    """Preview the removal of a document, as the worker of this task would."""
    store = open_store(web.memory)
    task = fenced_task(task_id=task_id, kind="forget")
    store.seal(task)
    transaction = store.begin(task, roots, writable=BOTH)
    transaction.remove(str(path))
    return store.preview(transaction, result_of=lambda commit: describe(commit) | {"summary": "Would."})


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
