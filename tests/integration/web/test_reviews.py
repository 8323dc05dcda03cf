"""What waits for a review, over HTTP."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from core.workspaces import Workspaces
from memory.document import render_document
from memory.paths import Roots
from tests.support.lane_driver import LaneDriver
from tests.support.web_server import WebServer

DOCUMENTS = "/workspace/memory/documents"
SHA = "0" * 64


def put(root: Path, path: str, **extra: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(render_document(type="user", name="X", description="X", body="\nX.\n", extra=extra))
    return file


def review(web: WebServer, path: str, **body: Any) -> Any:
    return web.post(f"{DOCUMENTS}/{path}/review", body)


def test_what_waits_is_listed_and_decided_on_as_it_was_read(
    web: WebServer, memory: Roots, lane: LaneDriver
) -> None:
    put(memory.user, "user/tëa.md", review="true")
    put(memory.user, "user/plain.md")
    put(memory.project, "project/vendor.md", review="true")

    listed = [web.request("GET", f"{DOCUMENTS}?review=waiting{more}").json for more in ("", "&scope=user")]
    place = f"user/user/{quote('tëa.md')}"
    shown = web.request("GET", f"{DOCUMENTS}/{place}").json
    answer = review(web, place, decision="approve", sha256=shown["sha256"])

    assert [[one["path"] for one in listing["documents"]] for listing in listed] == [
        ["project/vendor.md", "user/tëa.md"],
        ["user/tëa.md"],
    ]
    assert shown["underReview"] is True
    assert answer.status == 202
    task = answer.json["taskId"]
    assert answer.headers["location"] == f"/workspace/memory/tasks/{task}"
    assert task.startswith("review-")
    assert dict(lane.input_of(task)) == {
        "scope": "user",
        "path": "user/tëa.md",
        "decision": "approve",
        "sha256": shown["sha256"],
    }


def test_a_page_of_what_waits_leads_to_more_of_it(web: WebServer, memory: Roots) -> None:
    for name in "abc":
        put(memory.user, f"{name}.md", **({} if name == "b" else {"review": "true"}))

    first = web.request("GET", f"{DOCUMENTS}?review=waiting&limit=1")
    second = web.request("GET", first.headers["link"].removeprefix("<").partition(">")[0])

    assert [one["path"] for one in (*first.json["documents"], *second.json["documents"])] == ["a.md", "c.md"]


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("user/none.md", {"decision": "approve", "sha256": SHA}, 404, "document_not_found"),
        ("team/a.md", {"decision": "approve", "sha256": SHA}, 400, "invalid_scope"),
        ("user/waits.md", {"sha256": SHA}, 400, "invalid_decision"),
        ("user/waits.md", {"decision": "forget", "sha256": SHA}, 400, "invalid_decision"),
        ("user/waits.md", {"decision": "approve"}, 400, "invalid_sha256"),
        ("user/waits.md", {"decision": "approve", "sha256": "A" * 64}, 400, "invalid_sha256"),
        ("user/waits.md", {"decision": "reject", "sha256": SHA}, 409, "memory_conflict"),
        ("user/plain.md", {"decision": "approve", "sha256": SHA}, 409, "not_under_review"),
        ("user/pinned/a.md", {"decision": "approve", "sha256": SHA}, 409, "not_under_review"),
        ("user/odd%FF.md", {"decision": "approve", "sha256": SHA}, 400, "invalid_request"),
    ],
)
def test_what_can_not_be_decided_is_refused_at_once(
    web: WebServer, memory: Roots, path: str, body: dict[str, str], status: int, code: str
) -> None:
    for name in ("waits.md", "pinned/a.md"):
        put(memory.user, name, review="true")
    put(memory.user, "plain.md")

    answer = review(web, path, **body)

    assert (answer.status, answer.json["code"]) == (status, code)


def test_another_filter_than_there_is_is_refused(web: WebServer) -> None:
    assert web.request("GET", f"{DOCUMENTS}?review=all").json["code"] == "invalid_request"


def test_a_review_is_of_the_named_workspace(web: WebServer, memory: Roots, workspaces: Workspaces) -> None:
    put(memory.project, "project/vendor.md", review="true")
    second = list(workspaces)[1]

    answer = web.post(
        f"/workspaces/{second.id}/memory/documents/project/project/vendor.md/review",
        {"decision": "approve", "sha256": SHA},
    )

    assert answer.json["code"] == "document_not_found"
