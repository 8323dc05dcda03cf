"""A session's stream: whose end it tells, when it ends, its place."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from core.ids import ClientSessionId, WorkspaceId
from core.keys import LaneKeys
from events.connect import connect
from events.errors import SessionNotFound, StorageUnavailable, SubscriberLimitExceeded, SubscriptionEnded
from events.hub import EventHub, open_hub
from events.session_stream import SessionStream, SessionStreams
from events.sessions import MAX_STREAMS, Caller, ClientSessions
from memlane.embedded import EmbeddedRedis
from tests.support.lane import fresh_workspace_id

WAIT_S = 10.0
SOMEBODY = Caller("ada")


@dataclass
class Site:
    """A workspace with one session, whose streams look after their places each time."""

    redis: Any  # redis-py can't say that this client answers text
    workspace: WorkspaceId
    hub: EventHub

    def __post_init__(self) -> None:
        self.sessions = ClientSessions(self.redis)
        self.session = self.enter()

    @property
    def places(self) -> list[str]:
        found: list[str] = self.redis.zrange(LaneKeys(self.workspace).session_streams(self.session), 0, -1)
        return found

    def enter(self) -> ClientSessionId:
        return self.sessions.enter(self.workspace, SOMEBODY, is_shared=False).session

    def open(self, after: int | None = None) -> SessionStream:
        streams = SessionStreams(self.hub, self.sessions, keep_every_ms=0)
        return streams.open(self.session, after=after, epoch=None)

    def forget(self, session: ClientSessionId) -> None:
        """Let a session run out."""
        self.redis.delete(LaneKeys(self.workspace).session(session))


@pytest.fixture
def site(redis_url: str) -> Iterator[Site]:
    yield from site_on(redis_url)


def site_on(redis_url: str) -> Iterator[Site]:
    workspace = fresh_workspace_id()
    hub = open_hub(redis_url, [workspace])
    yield Site(connect(redis_url), workspace, hub)
    hub.close()


def test_the_end_of_its_session_is_the_last_that_it_tells(site: Site):
    stream = site.open()
    site.sessions.close(site.session, SOMEBODY)

    event = stream.next(WAIT_S)

    assert event is not None
    assert (event.type, event.id) == ("session_closed", 1)
    with pytest.raises(SubscriptionEnded):
        stream.next(WAIT_S)


def test_the_end_of_another_session_is_nothing_to_it(site: Site):
    other = site.enter()
    stream = site.open()
    site.sessions.close(other, SOMEBODY)

    site.sessions.close(site.session, SOMEBODY)

    event = stream.next(WAIT_S)
    assert event is not None
    assert event.id == 2


def test_from_its_beginning_means_from_that_of_its_session(site: Site):
    site.sessions.close(site.session, SOMEBODY)
    site.session = site.enter()
    ending = site.enter()
    stream = site.open(after=0)
    replayed = stream.next(WAIT_S)
    site.sessions.close(site.session, SOMEBODY)

    event = stream.next(WAIT_S)

    assert site.sessions.began_after(ending) == 1
    assert replayed is not None
    assert (replayed.type, json.loads(replayed.data_json)["replayedCount"]) == ("replay_complete", 0)
    assert event is not None
    assert (event.type, event.id) == ("session_closed", 2)


def test_a_cursor_from_before_its_session_is_good_all_the_same(site: Site):
    for _ in range(2):
        site.sessions.close(site.enter(), SOMEBODY)
    site.session = site.enter()
    site.sessions.close(site.enter(), SOMEBODY)

    replayed = site.open(after=1).next(WAIT_S)

    assert replayed is not None
    assert replayed.type == "replay_complete"
    assert json.loads(replayed.data_json)["replayedCount"] == 2


def test_a_reader_that_is_behind_is_told_of_the_end_all_the_same(site: Site):
    stream = site.open()
    for _ in range(3):
        site.sessions.close(site.enter(), SOMEBODY)
    site.sessions.close(site.session, SOMEBODY)

    event = stream.next(WAIT_S)

    assert event is not None
    assert (event.type, event.id) == ("session_closed", 4)


def test_it_ends_when_its_session_has_run_out(site: Site):
    stream = site.open()
    site.forget(site.session)

    with pytest.raises(SubscriptionEnded):
        stream.next(0)


def test_it_ends_when_its_place_was_given_away(site: Site):
    stream = site.open()
    places = LaneKeys(site.workspace).session_streams(site.session)
    site.redis.delete(places)
    site.redis.zadd(places, {str(number): 2**52 for number in range(MAX_STREAMS)})

    with pytest.raises(SubscriptionEnded):
        stream.next(0)


def test_it_has_a_place_as_long_as_it_is_open(site: Site):
    stream = site.open()
    held = site.places
    stream.next(0)

    stream.close()
    stream.close()

    assert len(held) == 1
    assert site.places == []


def test_what_is_refused_leaves_nothing_open(site: Site):
    places = LaneKeys(site.workspace).session_streams(site.session)
    site.redis.zadd(places, {str(number): 2**52 for number in range(MAX_STREAMS)})
    with pytest.raises(SubscriberLimitExceeded):
        site.open()
    site.forget(site.session)
    with pytest.raises(SessionNotFound):
        site.open()
    site.session = ClientSessionId("nope")
    with pytest.raises(SessionNotFound):
        site.open()

    assert site.redis.zcard(places) == MAX_STREAMS
    assert not site.hub._feeds[site.workspace].has_readers


def test_it_goes_on_after_an_outage_of_storage(own_redis: EmbeddedRedis):
    for site in site_on(own_redis.state_url):
        stream = site.open()
        own_redis.stop()
        with pytest.raises(StorageUnavailable):
            stream.next(0)
        own_redis.start()

        site.sessions.close(site.session, SOMEBODY)

        event = stream.next(WAIT_S)
        assert event is not None
        assert event.type == "session_closed"
        own_redis.stop()
        stream.close()  # whose place can't be given back now
