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


def test_getting_a_queued_task_can_wait_for_its_end(capsys):
    with scripted_service([Reply(200, QUEUED), Reply(200, DONE)]) as service:
        assert run("get", QUEUED["taskId"], "--url", service.url, "--wait") == 0

    assert capsys.readouterr().out.startswith("Saved")


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
