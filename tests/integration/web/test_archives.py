"""Memory as an archive over HTTP: out, and in."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.workspaces import Workspaces
from memory.document import render_document
from memory.paths import Roots
from memory.unpacking import unpack
from memory.validation import MAX_FILE_BYTES
from tests.support.archives import GOOD, tarred, zipped
from tests.support.lane_driver import LaneDriver
from tests.support.memory import note, tree
from tests.support.web_server import AUTHORIZED, Answer, WebServer

EXPORT = "/workspace/memory/export"
IMPORT = "/workspace/memory/import"
ZIP = {"Content-Type": "application/zip"}
TAR = {"Content-Type": "application/gzip"}


@pytest.fixture
def memory(memory: Roots) -> Roots:
    """The primary workspace's roots, with one document each."""
    put(memory.user, "user/tea.md", note("Tea"))
    put(memory.project, "pinned/ci.md", note("CI"))
    return memory


def put(root: Path, path: str, content: bytes) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def send(web: WebServer, body: bytes, headers: Mapping[str, str], *, path: str = IMPORT) -> Answer:
    return web.request("POST", path, headers={**AUTHORIZED, **headers}, body=body)


def require_nothing_queued(web: WebServer, memory: Roots, before: dict[str, bytes]) -> None:
    """The next task is the first of the lane, and memory is as it was."""
    answer = web.post("/workspace/memory/dream", {})
    assert answer.json["position"] == 1
    assert tree(memory.user, memory.project) == before


@pytest.fixture
def empty_lane(web: WebServer, lane: LaneDriver) -> None:
    """End what earlier tests queued."""
    lane.complete(web.post("/workspace/memory/dream", {}).json["taskId"])


@pytest.mark.parametrize(
    ("query", "content_type", "end", "archive_format"),
    [
        ("", "application/gzip", "tar.gz", "tar.gz"),
        ("?format=tar.gz", "application/gzip", "tar.gz", "tar.gz"),
        ("?format=zip&scope=user", "application/zip", "zip", "zip"),
    ],
)
def test_memory_is_exported_under_a_plain_name(
    web: WebServer,
    workspaces: Workspaces,
    memory: Roots,
    *,
    query: str,
    content_type: str,
    end: str,
    archive_format: Any,
) -> None:
    answer = web.request("GET", EXPORT + query)

    assert answer.status == 200
    assert answer.headers["content-type"] == content_type
    name = f"memory-{workspaces.primary.id}.{end}"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.headers["cache-control"] == "no-store"
    unpacked = unpack(answer.raw, archive_format)
    assert [one.path for one in unpacked.documents] == ["user/tea.md"]
    assert unpacked.skipped == ("scope" not in query)


def test_a_named_workspace_exports_its_own_project(
    web: WebServer, workspaces: Workspaces, memory: Roots
) -> None:
    second = list(workspaces)[1]
    answer = web.request("GET", f"/workspaces/{second.id}/memory/export?scope=project")

    assert unpack(answer.raw, "tar.gz").skipped == 0
    assert second.id in answer.headers["content-disposition"]


@pytest.mark.parametrize(
    ("query", "code"),
    [("format=rar", "invalid_request"), ("format=", "invalid_request"), ("scope=all", "invalid_scope")],
)
def test_an_export_of_what_there_is_not_is_refused(web: WebServer, query: str, code: str) -> None:
    answer = web.request("GET", f"{EXPORT}?{query}")

    assert (answer.status, answer.json["code"]) == (400, code)


def test_more_memory_than_an_archive_holds_is_refused(web: WebServer, memory: Roots) -> None:
    large = render_document(type="user", name="A", description="B", body="x" * (MAX_FILE_BYTES - 200))
    put(memory.user, "large/0.md", large)
    for number in range(1, 260):  # copies by reference would be left out as hard links
        put(memory.user, f"large/{number}.md", large)

    answer = web.request("GET", EXPORT)

    for number in range(260):
        (memory.user / f"large/{number}.md").unlink()
    assert (answer.status, answer.json["code"]) == (413, "archive_too_large")


@pytest.mark.parametrize(("archive", "headers"), [(zipped(GOOD), ZIP), (tarred(GOOD), TAR)])
def test_an_import_is_queued_as_a_task_of_its_own(
    web: WebServer, lane: LaneDriver, archive: bytes, headers: Mapping[str, str]
) -> None:
    answer = send(web, archive, headers, path=f"{IMPORT}?conflict=skip")

    task_id = answer.json["taskId"]
    assert answer.status == 202
    assert task_id.startswith("import-")
    assert answer.headers["location"] == f"/workspace/memory/tasks/{task_id}"
    assert lane.input_of(task_id) == {
        "documents": [{"scope": "user", "path": "user/tea.md", "content": note("Tea").decode()}],
        "skipped": 0,
        "conflict": "skip",
    }
    lane.complete(task_id, {"summary": "Imported 1 document.", "touchedScopes": ["user"]})
    assert web.request("GET", answer.headers["location"]).json["result"]["summary"] == "Imported 1 document."


@pytest.mark.usefixtures("empty_lane")
@pytest.mark.parametrize(
    ("archive", "headers", "member"),
    [
        (zipped(GOOD, ("../evil.md", note())), ZIP, "../evil.md"),
        (tarred(GOOD, ("/etc/evil.md", note())), TAR, "/etc/evil.md"),
        (zipped(GOOD, ("user/user/TEA.md", note())), ZIP, "user/user/TEA.md"),
        (tarred(GOOD, ("user/bad.md", b"\xff secret words")), TAR, "user/bad.md"),
        (zipped(GOOD), TAR, None),
        (b"", ZIP, None),
        (zipped(("bomb", bytes(64 * 1024 * 1024 + 1))), ZIP, None),
    ],
    ids=["slip", "absolute", "twin", "not UTF-8", "not the format", "empty", "bomb"],
)
def test_a_bad_archive_is_refused_and_nothing_is_queued(
    web: WebServer, memory: Roots, archive: bytes, headers: Mapping[str, str], member: str | None
) -> None:
    before = tree(memory.user, memory.project)

    answer = send(web, archive, headers)

    assert (answer.status, answer.json["code"]) == (400, "invalid_archive")
    assert answer.json.get("member") == member
    assert answer.json["reason"] in answer.json["error"]
    assert b"secret words" not in answer.raw
    require_nothing_queued(web, memory, before)


@pytest.mark.usefixtures("empty_lane")
@pytest.mark.parametrize(
    ("body", "headers", "path", "status"),
    [
        (zipped(GOOD), {"Content-Type": "application/octet-stream"}, IMPORT, 415),
        (b"{}", {"Content-Type": "application/json"}, IMPORT, 415),
        (zipped(GOOD), {}, IMPORT, 415),
        (zipped(GOOD), {**ZIP, "Content-Encoding": "gzip"}, IMPORT, 415),
        (zipped(GOOD), ZIP, f"{IMPORT}?conflict=ask", 400),
        (zipped(GOOD), ZIP, "/workspaces/0000000000000000/memory/import", 400),
        (zipped(GOOD), {**ZIP, "X-Qwen-Client-Id": "stranger"}, IMPORT, 400),
        (b"x" * (10 * 1024 * 1024 + 1), ZIP, IMPORT, 413),
    ],
)
def test_a_request_to_import_that_makes_no_sense_is_refused_and_nothing_is_queued(
    web: WebServer, memory: Roots, *, body: bytes, headers: Mapping[str, str], path: str, status: int
) -> None:
    before = tree(memory.user, memory.project)

    assert send(web, body, headers, path=path).status == status
    require_nothing_queued(web, memory, before)


@pytest.mark.usefixtures("empty_lane")
def test_documents_that_no_task_can_hold_are_refused_and_nothing_is_queued(
    web: WebServer, memory: Roots
) -> None:
    before = tree(memory.user, memory.project)
    large = note(body="x" * (MAX_FILE_BYTES - 200))

    answer = send(web, tarred(*((f"user/{number}.md", large) for number in range(41))), TAR)

    assert (answer.status, answer.json["code"]) == (413, "archive_too_large")
    require_nothing_queued(web, memory, before)


def test_the_feature_is_named(web: WebServer) -> None:
    assert "memlane_memory_archive" in web.request("GET", "/capabilities").json["features"]
