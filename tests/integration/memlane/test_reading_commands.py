"""`memlane get` and `memlane events`."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.support.command_line import DONE, QUEUED, run
from tests.support.scripted_service import Reply, scripted_service


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("MEMLANE_TOKEN", "secret")


def test_a_task_can_be_looked_up_and_waited_for(capsys):
    with scripted_service([Reply(200, QUEUED), Reply(200, DONE)]) as service:
        assert run("get", QUEUED["taskId"], "--url", service.url) == 0
        assert run("get", QUEUED["taskId"], "--url", service.url, "--json", "--wait") == 0

    first, second = capsys.readouterr().out.splitlines()
    assert first == f"{QUEUED['taskId']} is queued, position 1"
    assert json.loads(second) == DONE


def test_getting_a_queued_task_can_wait_for_its_end_and_shows_how_far_it_is(capsys):
    running = QUEUED | {"status": "running", "position": None, "progress": {"turn": 2, "maxTurns": 6}}
    with scripted_service([Reply(200, QUEUED), Reply(200, running), Reply(200, DONE)]) as service:
        assert run("get", QUEUED["taskId"], "--url", service.url, "--wait") == 0

    shown = capsys.readouterr()
    assert shown.out.startswith("Saved")
    assert f"{QUEUED['taskId']} is running, turn 2 of 6\n" in shown.err


REVISION = {
    "revision": "r7",
    "taskId": "remember-1",
    "kind": "remember",
    "clientId": "web:1",
    "committedAt": "2026-01-01T00:00:00.000Z",
    "summary": "Saved \x1b[31mit.",
    "documents": [{"scope": "user", "path": "user/tea.md"}],
}
DIFF = {"scope": "user", "path": "user/tea.md", "change": "created", "diff": "+Tea\n"}


def test_history_shows_who_changed_what(capsys):
    page = {"revisions": [REVISION], "nextBefore": "r7"}
    with scripted_service([Reply(200, page)] * 2) as service:
        assert run("history", "user/user/tea.md", "--limit", "3", "--url", service.url) == 0
        assert run("history", "--json", "--url", service.url) == 0

    head, document, as_json = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"r7  2025-12-31 .*|r7  2026-01-01 .*", head)
    assert head.endswith("  remember by web:1: Saved  [31mit.")
    assert document == "  user/user/tea.md"
    assert json.loads(as_json) == page
    paths = [request.path for request in service.requests]
    assert paths[0] == "/workspace/memory/revisions?limit=3&scope=user&path=user%2Ftea.md"
    assert paths[1] == "/workspace/memory/revisions?limit=50"


@pytest.mark.parametrize("file", ["tea.md", "team/tea.md", "user/"])
def test_a_file_that_is_no_scope_and_path_is_wrong_usage(capsys, file):
    assert run("history", file) == 2
    assert "is no scope and path" in capsys.readouterr().err


def test_diff_shows_what_a_revision_changed(capsys):
    with scripted_service([Reply(200, REVISION | {"diff": [DIFF]})]) as service:
        assert run("diff", "r7", "--url", service.url) == 0

    assert service.requests[0].path == "/workspace/memory/revisions/r7"
    assert capsys.readouterr().out.endswith("  user/user/tea.md\ncreated user: user/tea.md\n+Tea\n")


def test_undo_asks_for_a_revision_to_be_taken_back(capsys):
    with scripted_service([Reply(202, QUEUED)]) as service:
        assert run("undo", "r7", "--url", service.url) == 0

    assert (service.requests[0].method, service.requests[0].path) == (
        "POST",
        "/workspace/memory/revisions/r7/undo",
    )


@pytest.mark.parametrize(
    ("ended", "code", "word"),
    [
        ({"cancelRequested": True, "status": "running"}, 0, "told to stop"),
        ({"status": "failed", "outcome": "cancelled"}, 0, "cancelled"),
        ({"status": "completed", "outcome": "completed"}, 1, "completed"),
    ],
)
def test_cancel_says_what_became_of_the_task(capsys, ended, code, word):
    with scripted_service([Reply(202, QUEUED | ended)]) as service:
        assert run("cancel", QUEUED["taskId"], "--url", service.url) == code

    assert capsys.readouterr().out == f"{QUEUED['taskId']} is {word}\n"


EVENT = {"id": 7, "v": 1, "type": "memory_changed", "data": {"scope": "managed", "n": 1}}
STREAM = {"Content-Type": "text/event-stream"}


def stream_of(*events: dict[str, object]) -> Reply:
    frames = [f"id: {event['id']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return Reply(200, "".join(frames).encode(), STREAM)


@pytest.mark.parametrize(
    ("flags", "shown"),
    [(["--json"], json.dumps(EVENT, separators=(",", ":"))), ([], "7 memory_changed scope=managed n=1")],
)
def test_events_are_shown_until_the_service_refuses(capsys, flags, shown):
    gone = Reply(400, {"error": "Gone", "code": "gone"})
    with scripted_service([stream_of(EVENT), gone]) as service:
        assert run("events", "--after", "6", "--url", service.url, *flags) == 2

    assert capsys.readouterr().out == f"{shown}\n"
    assert service.requests[0].headers["Last-Event-ID"] == "6"


def test_an_event_is_shown_with_its_time(capsys):
    timed = EVENT | {"data": {}, "_meta": {"serverTimestamp": 0}}
    with scripted_service([stream_of(timed), Reply(400, {"error": "x"})]) as service:
        run("events", "--url", service.url)

    assert re.fullmatch(r"\d\d:\d\d:\d\d 7 memory_changed\n", capsys.readouterr().out)


def test_events_end_when_nobody_reads_them():
    read_end, write_end = os.pipe()
    os.close(read_end)
    with scripted_service([stream_of(EVENT)]) as service:
        answer = subprocess.run(
            [sys.executable, "-P", "-m", "memlane", "events", "--url", service.url],
            stdout=write_end,
            stderr=subprocess.PIPE,
            text=True,
            timeout=30,
            check=False,
        )
    os.close(write_end)

    assert (answer.returncode, answer.stderr) == (0, "")


TEA = {
    "scope": "user",
    "path": "user/tea.md",
    "name": "Tea\x1b[31m",
    "description": "",
    "type": "user",
    "pinned": False,
    "underReview": True,
    "content": "---\nname: Tea\n---\n\nGreen \x1b[31mtea.\n",
}


def test_documents_are_listed_and_one_is_shown(capsys):
    listed = {"documents": [TEA], "leftOut": [], "nextCursor": None}
    with scripted_service([Reply(200, listed), Reply(200, TEA), Reply(200, TEA)]) as service:
        assert run("documents", "--scope", "user", "--url", service.url) == 0
        assert run("documents", "user/user/tea.md", "--url", service.url) == 0
        assert run("documents", "user/user/tea.md", "--json", "--url", service.url) == 0

    out = capsys.readouterr().out
    head, shown = out.split("\n", 1)
    assert head == "user/user/tea.md  Tea [31m  (waits for a review)"
    assert shown.startswith("---\nname: Tea\n---\n\nGreen  [31mtea.\n{")
    assert json.loads(shown.splitlines()[-1]) == TEA
    assert [seen.path for seen in service.requests] == [
        "/workspace/memory/documents?scope=user&limit=1000",
        *["/workspace/memory/documents/user/user/tea.md"] * 2,
    ]


def test_what_names_no_document_is_refused_without_a_request(capsys):
    with scripted_service([]) as service:
        assert run("documents", "tea.md", "--url", service.url) == 2

    assert "is no scope and path" in capsys.readouterr().err
    assert service.requests == []


def test_what_memory_holds_can_be_searched(capsys):
    hit = {"scope": "user", "path": "user/tea.md", "title": "Tea", "score": 1.5, "snippet": "Green\n tea"}
    with scripted_service([Reply(200, {"hits": [hit]})] * 2) as service:
        assert run("search", "green tea", "--limit", "3", "--url", service.url) == 0
        assert run("search", "green tea", "--json", "--url", service.url) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["user/user/tea.md  Tea", "  Green tea"]
    assert json.loads(lines[2]) == hit
    assert service.requests[0].path == "/workspace/memory/search?q=green+tea&limit=3"


def test_event_ids_start_at_one_and_what_is_none_is_refused(capsys):
    assert run("events", "--after", "-1") == 2
    assert "--after" in capsys.readouterr().err
