"""The recorded life of sessions and the recorded streams, replayed against the real application."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from core.keys import LaneKeys
from core.workspaces import Workspace, Workspaces
from events.connect import connect
from events.log import EventLog
from tests.support.client_sessions import close, enter, post
from tests.support.contract_cases import Case, expected_of, load_cases
from tests.support.lane_driver import LaneDriver
from tests.support.web_server import EventStream, WebServer, running_web

STREAMS = load_cases("stream")
COUNTS = re.compile(
    r'(id: |"(?:id|serverTimestamp|lastDeliveredId|earliestAvailableId|lastReplayedEventId|lastEventId|'
    r'replayedCount)":)[0-9]+'
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspaces([str(tmp_path_factory.mktemp("workspace"))]).primary


@pytest.fixture(scope="module")
def web(
    redis_url: str, workspace: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebServer]:
    folder = tmp_path_factory.mktemp("web")
    with running_web(redis_url, [Path(workspace.path)], folder=folder, heartbeat_s=0.2) as server:
        yield server


def test_a_life_of_sessions_is_as_recorded(redis_url: str, tmp_path: Path) -> None:
    workspace = Workspaces([str(tmp_path)]).primary  # one of its own, in which there was no session
    with running_web(redis_url, [tmp_path], folder=tmp_path, heartbeat_s=0.2) as web:
        live(web, workspace)


def live(web: WebServer, workspace: Workspace) -> None:
    """Do all that was recorded, and compare."""
    names = {"{workspace}": workspace.path}
    for recorded in load_cases("session"):
        case = recorded.in_words_of(names)

        answer = web.request(case.method, case.path, headers=case.headers, body=case.sent_body())

        expected = expected_of(case)
        assert answer.status == expected.status, case.name
        assert answer.headers.get("content-type") == case.answer_headers.get("content-type"), case.name
        got = answer.json if answer.raw else None
        learn(names, expected.body, got)
        assert dumped(got) == dumped(expected_of(recorded.in_words_of(names)).body), case.name


def learn(names: dict[str, str], expected: Any, got: Any) -> None:
    """Note what stands for a recorded id or time that was not seen before."""
    for name in ("sessionId", "clientId", "createdAt"):
        recorded = (expected or {}).get(name)
        if recorded and recorded not in names.values() and not recorded.startswith(("0000", "nope")):
            names.setdefault(recorded, got[name])


def dumped(body: Any) -> str:
    """A body with its members in their order, without the time at which a client was seen."""
    return re.sub(r'("lastSeenAt": )[0-9]+', r"\g<1>0", json.dumps(body))


class Replay:
    """What happened when the streams were recorded, done again."""

    def __init__(self, web: WebServer, lane: LaneDriver) -> None:
        entry = enter(web)
        self.names: dict[str, str] = {"{session}": entry["sessionId"], "{client}": entry["clientId"]}
        self._web = web
        self._lane = lane

    def change_memory(self) -> None:
        for event in recorded_changes():
            task_id = self._submit(event)
            changed = {**event["data"], "taskId": task_id}
            self._lane.complete(task_id, memory_changed=changed)
            self.names[event["data"]["taskId"]] = task_id

    def change_nothing(self) -> None:
        self._lane.complete(post(self._web, "/workspace/memory/dream").json["taskId"])
        failing = post(self._web, "/workspace/memory/remember", {"content": "x"}).json["taskId"]
        self._lane.fail(failing, "remember_failed", "No.")

    def _submit(self, event: Mapping[str, Any]) -> str:
        kind = event["data"]["source"].removeprefix("workspace_memory_")
        client = self.names["{client}"] if "originatorClientId" in event else ""
        answer = post(self._web, f"/workspace/memory/{kind}", {"content": "x", "query": "x"}, client=client)
        task_id: str = answer.json["taskId"]
        return task_id


def recorded_changes() -> list[Any]:
    """Every recorded change of memory, in its order."""
    frames = [frame for case in STREAMS if case.status == 200 for frame in case.answer]
    envelopes = [json.loads(frame.partition("data: ")[2]) for frame in frames if "memory_changed" in frame]
    return [event for _, event in sorted({event["id"]: event for event in envelopes}.items())]


@pytest.fixture(scope="module")
def names(web: WebServer, workspace: Workspace, redis_url: str) -> dict[str, str]:
    """Ours for what was recorded, after all has happened; the live stream is looked at meanwhile."""
    replay = Replay(web, LaneDriver(redis_url, workspace.id))
    (live,) = (case for case in STREAMS if case.name == "stream-live-no-last-event-id")
    case = live.in_words_of(replay.names)
    with web.stream(case.path, case.headers) as stream:
        assert stream.block() == "retry: 3000"
        replay.change_memory()
        seen = frames_of(stream, count=len(recorded_changes()))
        replay.change_nothing()
        replay.names["{epoch}"] = stream.headers["x-qwen-event-epoch"]
    expected = expected_of(live.in_words_of(replay.names)).body
    assert seen[: len(expected)] == uncounted(expected)
    return replay.names


@pytest.mark.parametrize(
    "recorded",
    [
        case
        for case in STREAMS
        if case.status == 200 and not case.name.endswith(("live-no-last-event-id", "ends-stream"))
    ],
    ids=lambda case: case.name,
)
def test_a_stream_is_as_recorded(
    web: WebServer, workspace: Workspace, redis_url: str, names: Mapping[str, str], recorded: Case
) -> None:
    case = recorded.in_words_of(names)
    cursor = our_cursor(case, EventLog(connect(redis_url)).read(workspace.id, after=0, count=1000))

    with web.stream(case.path, {**case.headers, **cursor}) as stream:
        assert (stream.status, stream.block()) == (200, "retry: 3000")
        assert stream.headers.items() >= case.answer_headers.items()
        seen = frames_of(stream)

    expected = uncounted(expected_of(case).body)
    is_whole = not expected or "replay_complete" in expected[-1]  # recordings were cut at some length
    assert (seen if is_whole else seen[: len(expected)]) == expected


def our_cursor(case: Case, log: list[Any]) -> dict[str, str]:
    """Where our log stands after the same change of memory, or at its end."""
    recorded = case.headers.get("Last-Event-ID", "")
    changes = {str(event["id"]): number for number, event in enumerate(recorded_changes())}
    if recorded not in changes:
        return {}
    if case.name == "stream-replay-from-newest":
        return {"Last-Event-ID": str(log[-1].id)}
    ours = [event for event in log if event.type == "memory_changed"]
    return {"Last-Event-ID": str(ours[changes[recorded]].id)}


def uncounted(frames: list[str]) -> list[str]:
    """Frames without ids, numbers of events and times."""
    return [COUNTS.sub(r"\g<1>0", frame) for frame in frames]


def frames_of(stream: EventStream, *, count: int | None = None) -> list[str]:
    """Uncounted frames, but those of tasks: so many, else until nothing more comes."""
    frames: list[str] = []
    while count is None or len(frames) < count:
        block = stream.block()
        if count is None and block in ("", ": heartbeat"):
            break
        if block != ": heartbeat" and "event: task_" not in block:
            frames.append(block)
    return uncounted(frames)


@pytest.mark.parametrize(
    "recorded", [case for case in STREAMS if case.status != 200], ids=lambda case: case.name
)
def test_a_refused_stream_is_refused_as_recorded(
    web: WebServer, workspace: Workspace, redis_url: str, recorded: Case
) -> None:
    entry = enter(web, sessionScope="thread")
    case = recorded.in_words_of({"{session}": entry["sessionId"]})
    if recorded.name == "stream-subscriber-limit":
        places = LaneKeys(workspace.id).session_streams(entry["sessionId"])
        connect(redis_url).zadd(places, {str(number): 2**52 for number in range(64)})

    answer = web.request("GET", case.path, headers=case.headers)

    expected = expected_of(case)
    assert (answer.status, dumped(answer.json)) == (expected.status, dumped(expected.body))
    assert answer.headers.get("retry-after") == case.answer_headers.get("retry-after")
    assert answer.headers["content-type"] == "application/json; charset=utf-8"


def test_a_closed_session_ends_its_stream_as_recorded(web: WebServer) -> None:
    (recorded,) = (case for case in STREAMS if case.name == "stream-session-closed-ends-stream")
    entry = enter(web, sessionScope="thread")
    case = recorded.in_words_of({"{session}": entry["sessionId"], "{client}": entry["clientId"]})
    with web.stream(case.path, case.headers) as stream:
        assert stream.block() == "retry: 3000"

        close(web, entry["sessionId"], client=entry["clientId"])

        seen = frames_of(stream, count=len(case.answer))
        assert stream.block() == ""
    assert seen == uncounted(case.answer)
