"""What docs/operations.md says of Redis, held against a server on which all has happened to a lane."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from core.acp import Progress
from core.ids import ClientId, TaskId, new_task_id, new_uuid
from core.settings import Settings
from events.chat.store import ChannelStore
from events.connect import connect
from events.listener import Listener
from events.sessions import Caller, ClientSessions
from jobs.audit import Act, Audit
from jobs.broker import Doorbell, open_broker
from jobs.broker_probe import BrokerProbe
from jobs.deployment import Deployment
from jobs.errors import Overloaded, QueueFull
from jobs.lanes import Lease, ProgressNote
from jobs.rates import Rates
from jobs.registry import WorkerRegistry
from jobs.requirements import check_redis
from jobs.tasks import End, Submission
from jobs.worker import _facts
from memlane.embedded import EmbeddedRedis
from tests.support.documents import heading_of_link, quoted, table_under
from tests.support.lane import DONE, LaneUnderTest

SECTION = "What Redis holds"
ABBREVIATIONS = {
    "B:": "P:<workspace id>:",
    "P:": "memlane:1:{p<nnn>}:",
    "C:": "memlane:1:{channel:<workspace id>:<name>}:",
}
PLACEHOLDERS = {
    "nnn": r"\d{3}",
    "workspace id": "[0-9a-f]{16}",
    "task id": "[a-z]+-[0-9a-f-]{36}",
    "payload": r"\{.*\}",
    "key": r"\S+",
}
TYPES = {"zset": "sorted set"}


@dataclass(frozen=True)
class Row:
    """A line of the documented schema: what a key, or channel, is and what it may hold."""

    name: str
    type: str
    parts: tuple[str, ...]

    @property
    def pattern(self) -> re.Pattern[str]:
        name = self.name
        for short, long in ABBREVIATIONS.items():
            name = long + name.removeprefix(short) if name.startswith(short) else name
        return pattern_of(name)


@dataclass
class Seen:
    """What was found on the server so far: the parts of each thing, by its name and type."""

    things: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, name: str, kind: str, parts: set[str]) -> None:
        self.things[name, kind] |= parts


def pattern_of(text: str) -> re.Pattern[str]:
    """Turn a documented name, with its ``<placeholders>``, into what matches it whole."""
    pieces = re.split(r"<([^>]+)>", text)
    plain, names = pieces[::2], pieces[1::2]
    holes = [PLACEHOLDERS.get(name, r"[^:\s]+") for name in names]
    return re.compile("".join(re.escape(a) + b for a, b in zip(plain, [*holes, ""], strict=True)))


def documented() -> list[Row]:
    rows = []
    for name, kind, parts, _ in table_under(SECTION):
        heading = heading_of_link(parts)
        listed = [quoted(row[0]) for row in table_under(heading)] if heading else [quoted(parts)]
        rows.append(Row(quoted(name)[0], kind, tuple(part for group in listed for part in group)))
    return rows


PARTS: dict[str, Callable[[Any, str], set[str]]] = {
    "hash": lambda redis, name: set(redis.hkeys(name)),
    "list": lambda redis, name: set(redis.lrange(name, 0, -1)),
    "zset": lambda redis, name: set(redis.zrange(name, 0, -1)),
    "stream": lambda redis, name: {part for _, entry in redis.xrange(name) for part in entry},
    "string": lambda _redis, _name: set(),
}


def look(redis: Any, seen: Seen) -> None:
    """Note every key that there is now."""
    for name in redis.scan_iter("*"):
        kind = redis.type(name)
        seen.add(name, TYPES.get(kind, kind), PARTS[kind](redis, name))


@contextmanager
def overhearing(redis: Any, seen: Seen) -> Iterator[None]:
    """Note every message that is published while the body runs."""
    with redis.pubsub() as ears:
        ears.psubscribe("*")
        assert ears.get_message(timeout=5)["type"] == "psubscribe"
        yield
        redis.publish("the end", "")
        while (message := ears.get_message(timeout=5))["channel"] != "the end":
            seen.add(message["channel"], "channel", {message["data"]} - {""})


def submit_fully(lane: LaneUnderTest) -> TaskId:
    """Submit a task with all that can come with a request."""
    submission = Submission(
        "remember",
        {"content": "a fact"},
        context_mode="workspace",
        scope="user",
        client_id=ClientId("ada"),
        request_id="r-1",
        idempotency_keys=(new_uuid(),),
        traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    )
    return lane.intake.submit(lane.workspace, new_task_id("remember"), submission).task


def run_to_its_end(lane: LaneUnderTest, look_now: Callable[[], None]) -> None:
    submit_fully(lane)
    look_now()
    grant = lane.granted()
    lease = Lease(lane.workspace, grant.claim, grant.fence)
    lane.lanes.renew([lease])
    progress = Progress(task_id=grant.task.id, turn=1, max_turns=6)
    lane.lanes.tell_progress([ProgressNote(lane.workspace, grant, progress)])
    look_now()
    fence = lane.lanes.refence(lease, at_least=grant.fence + 1)
    assert fence is not None
    look_now()
    assert lane.finish(replace(grant, fence=fence), End("queued", cause="store_busy")).answer == "ok"
    look_now()
    end = End(
        "completed",
        result=DONE.result,
        revision="r1",
        usage={"inputTokens": 1},
        memory_changed={"scope": "managed"},
    )
    assert lane.finish(lane.granted(), end).answer == "ok"
    look_now()


def retry(lane: LaneUnderTest) -> None:
    ended = submit_fully(lane)
    lane.finish(lane.granted())
    again = Submission("remember", {}, retry_of=ended)
    lane.intake.submit(lane.workspace, new_task_id("remember"), again)
    lane.finish(lane.granted())


def cancel_queued_and_running(lane: LaneUnderTest) -> None:
    lane.cancel(lane.submit()[0])
    running, _ = lane.submit()
    grant = lane.granted()
    lane.cancel(running)
    lane.finish(grant, End("cancelled", code="task_cancelled", message="The task was cancelled."))


def refuse(lane: LaneUnderTest) -> None:
    with suppress(Overloaded):
        lane.submit(gate="busy")
    with suppress(QueueFull):
        for _ in range(17):
            lane.submit()


def lose_worker_and_recover(lane: LaneUnderTest) -> None:
    lane.granted(claim="dead:1")
    assert lane.upkeep.expire_owner("dead") == 1
    lane.make_due()
    assert lane.sweep()
    lane.upkeep.hold(lane.workspace)


def audit_and_count(lane: LaneUnderTest) -> None:
    act = Act(token="ci", action="undo", target="/", status=202, workspace=lane.workspace)
    record = Audit(lane.redis)
    record.record(replace(act, client_id="client_1", request_id="r-1"))
    record.record(replace(act, status=403, code="forbidden", client_id="client_1", request_id="r-1"))
    Rates(lane.redis).take("ci", limit=1)


def ring_and_listen(settings: Settings, lane: LaneUnderTest) -> None:
    broker = open_broker(settings)
    Doorbell(broker, lane.redis).ring(lane.workspace, 1)
    assert BrokerProbe(broker).oldest_stamp_ms() == 1
    Listener(settings.state, {}, on_gap=lambda: None, name="listener").close()


def hold_sessions(lane: LaneUnderTest, look_now: Callable[[], None]) -> None:
    sessions, caller = ClientSessions(lane.redis), Caller("default")
    entry = sessions.enter(lane.workspace, caller, is_shared=True)
    sessions.watch(entry.session, "stream-1", kept_ms=60_000)
    look_now()
    sessions.close(entry.session, caller)


def serve_a_channel(lane: LaneUnderTest, look_now: Callable[[], None]) -> None:
    store = ChannelStore(lane.redis, lane.workspace, "team chat")
    told = {"state": "connected", "since": "1700000000000", "reason": "", "process": "h:7"}
    store.claim("process-1", life_ms=60_000, told=told)
    store.put("{}", keys=["message:1"])
    store.begin("turn-1", "{}")
    store.start_delivery("turn-1")
    store.add([("turn-1:0", "{}", "turn-1")])
    store.mark_sending("turn-1:0", attempt="attempt-1")
    store.save_routes("[]")
    look_now()
    store.mark_sent("turn-1:0", "provider-1")
    store.end("turn-1", "completed", reason="", receipts=[])


@pytest.fixture
def seen(own_redis: EmbeddedRedis) -> Seen:
    """All that was ever found while a lane lived its life."""
    settings = Settings(redis_url=own_redis.state_url, broker_url=own_redis.broker_url)
    lane = LaneUnderTest(connect(settings.state))
    found = Seen()
    with overhearing(lane.redis, found):
        check_redis(lane.redis, strict=True)
        Deployment(lane.redis, configured=None).lane_of(lane.workspace)
        registry = WorkerRegistry(lane.redis)
        named = settings.model_copy(update={"deployment": "mine"})
        registry.announce("worker-1", _facts(named, model="offline"), {lane.workspace: True})
        registry.note_load(waiting=1, oldest_wait_ms=1)
        run_to_its_end(lane, lambda: look(lane.redis, found))
        retry(lane)
        cancel_queued_and_running(lane)
        look(lane.redis, found)
        refuse(lane)
        audit_and_count(lane)
        lose_worker_and_recover(lane)
        ring_and_listen(settings, lane)
        hold_sessions(lane, lambda: look(lane.redis, found))
        serve_a_channel(lane, lambda: look(lane.redis, found))
        look(lane.redis, found)
    return found


def test_nothing_is_in_redis_that_the_page_does_not_name(seen: Seen):
    rows = documented()
    strangers: list[tuple[str, str]] = []
    for (name, kind), parts in seen.things.items():
        fits = [row for row in rows if row.type == kind and row.pattern.fullmatch(name)]
        allowed = [pattern_of(part) for row in fits for part in row.parts]
        strangers += [(name, kind)] if len(fits) != 1 else []
        strangers += [
            (name, part) for part in parts if not any(pattern.fullmatch(part) for pattern in allowed)
        ]

    assert strangers == []


def test_the_page_names_nothing_that_never_appears(seen: Seen):
    missing: list[str | tuple[str, str]] = []
    for row in documented():
        things = [
            parts
            for (name, kind), parts in seen.things.items()
            if kind == row.type and row.pattern.fullmatch(name)
        ]
        found = set().union(*things)
        missing += [] if things else [row.name]
        missing += [
            (row.name, part)
            for part in row.parts
            if not any(pattern_of(part).fullmatch(one) for one in found)
        ]

    assert missing == []


def test_the_brokers_database_holds_dramatiqs_keys_only(own_redis: EmbeddedRedis):
    settings = Settings(redis_url=own_redis.state_url, broker_url=own_redis.broker_url)
    lane = LaneUnderTest(connect(settings.state))

    ring_and_listen(settings, lane)

    broker = connect(settings.broker)
    names = list(broker.scan_iter("*"))
    assert names
    assert [name for name in names if not name.startswith("dramatiq:")] == []
