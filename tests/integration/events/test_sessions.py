"""Client sessions on a real server: one test for each answer of each script."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from core.ids import ClientId, ClientSessionId, workspace_of_client_session
from events.connect import connect
from events.errors import InvalidClientId, SessionNotFound, StorageFull, StorageUnavailable
from events.log import EventLog
from events.sessions import CLIENT_LIFE_MS, Caller, SessionEntry
from memlane.embedded import EmbeddedRedis
from tests.support.lane import fresh_workspace_id
from tests.support.redis_server import kill_redis
from tests.support.session_site import SESSION_LIFE_MS, SOMEBODY, Site


@pytest.fixture
def site(redis_url: str) -> Site:
    return Site(connect(redis_url))


class TestEnter:
    def test_makes_a_session_that_says_where_it_belongs(self, site: Site):
        entry = site.enter()

        assert not entry.is_attached
        assert workspace_of_client_session(entry.session) == site.workspace
        assert entry.created_ms == int(site.redis.hget(site.keys.session(entry.session), "createdAtMs"))
        assert site.lives(site.keys.session(entry.session), SESSION_LIFE_MS)
        assert site.lives(site.keys.session_clients(entry.session), SESSION_LIFE_MS)
        assert site.lives(site.keys.single_session, SESSION_LIFE_MS)
        assert site.lives(site.keys.client(entry.client), CLIENT_LIFE_MS)

    def test_gives_all_who_share_one_session_a_client_id_each(self, site: Site):
        first, second = site.enter(), site.enter()

        assert second.is_attached
        assert (second.session, second.created_ms) == (first.session, first.created_ms)
        assert second.client != first.client

    def test_makes_a_session_of_its_own_for_who_wants_one(self, site: Site):
        shared, own = site.enter(), site.enter(is_shared=False)

        assert not own.is_attached
        assert own.session != shared.session
        assert site.enter().session == shared.session

    def test_keeps_a_client_id_that_is_registered(self, site: Site):
        entry = site.enter()

        again = site.enter(Caller("ada", entry.client), is_shared=False)

        assert again.client == entry.client

    @pytest.mark.parametrize(
        ("owner", "known"), [("ada", False), ("bob", True)], ids=["unknown", "of another"]
    )
    def test_gives_a_fresh_id_for_one_that_is_not_the_callers(self, site: Site, owner: str, *, known: bool):
        theirs = site.enter().client if known else ClientId("client_unknown")

        entry = site.enter(Caller(owner, theirs))

        assert entry.client != theirs
        assert not site.owns(theirs, owner="bob")

    def test_makes_a_new_session_once_the_shared_one_is_over(self, site: Site):
        old = site.enter()
        site.redis.delete(site.keys.session(old.session))

        entry = site.enter()

        assert not entry.is_attached
        assert entry.session != old.session

    def test_keeps_a_session_alive(self, site: Site):
        entry = site.enter()
        site.age(entry.session)

        site.enter()

        assert site.lives(site.keys.session(entry.session), SESSION_LIFE_MS)
        assert site.lives(site.keys.single_session, SESSION_LIFE_MS)

    def test_forgets_clients_that_nobody_heard_of_for_a_day(self, site: Site):
        entry = site.enter()
        site.redis.zadd(site.keys.session_clients(entry.session), {entry.client: 1})

        other = site.enter()

        assert site.redis.zrange(site.keys.session_clients(entry.session), 0, -1) == [other.client]

    def test_is_refused_whole_while_redis_is_full(self, own_redis: EmbeddedRedis):
        site = Site(connect(own_redis.state_url))
        site.redis.config_set("maxmemory", 1)

        with pytest.raises(StorageFull):
            site.enter()

        assert site.all_there_is() == {}


class TestOwns:
    def test_knows_registered_ids_of_its_workspace_and_token_only(self, site: Site):
        client = site.enter().client

        assert site.owns(client)
        assert not site.owns(client, owner="bob")
        assert not site.owns(client, workspace=fresh_workspace_id())
        assert not site.owns("client_unknown")

    def test_keeps_a_registration_for_another_day(self, site: Site):
        client = site.enter().client
        site.redis.pexpire(site.keys.client(client), 60_000)

        assert site.owns(client)

        assert site.lives(site.keys.client(client), CLIENT_LIFE_MS)

    def test_outlives_the_session(self, site: Site):
        entry = site.enter()

        site.sessions.close(entry.session, SOMEBODY)

        assert site.owns(entry.client)


class TestKeep:
    def test_tells_the_time_and_keeps_all_that_belongs_to_the_session(self, site: Site):
        entry = site.enter()
        site.age(entry.session)

        at_ms = site.sessions.keep(entry.session, Caller("ada", entry.client))

        assert at_ms >= entry.created_ms
        assert site.redis.zscore(site.keys.session_clients(entry.session), entry.client) == at_ms
        for name in (site.keys.session(entry.session), site.keys.single_session):
            assert site.lives(name, SESSION_LIFE_MS)

    def test_needs_no_client(self, site: Site):
        entry = site.enter()
        site.age(entry.session)

        site.sessions.keep(entry.session, SOMEBODY)

        assert site.lives(site.keys.session(entry.session), SESSION_LIFE_MS)

    def test_leaves_the_shared_session_alone_when_it_is_another(self, site: Site):
        shared, own = site.enter(), site.enter(is_shared=False)
        site.age(shared.session)

        site.sessions.keep(own.session, SOMEBODY)

        assert site.redis.pttl(site.keys.single_session) <= 60_000

    @pytest.mark.parametrize("session", ["00000000-0000-4000-8000-000000000000", "nope", "a\r\nb", ""])
    def test_refuses_a_session_that_is_not_there(self, site: Site, session: str):
        before = site.all_there_is()

        with pytest.raises(SessionNotFound) as refused:
            site.sessions.keep(ClientSessionId(session), SOMEBODY)

        assert refused.value.session_id == session
        assert site.all_there_is() == before

    def test_refuses_a_client_that_takes_no_part(self, site: Site):
        entry, other = site.enter(), site.enter(is_shared=False)
        before = site.all_there_is()

        for caller in (
            Caller("ada", other.client),
            Caller("bob", entry.client),
            Caller("ada", ClientId("x")),
        ):
            with pytest.raises(InvalidClientId, match="is not registered for session") as refused:
                site.sessions.keep(entry.session, caller)
            assert (refused.value.client_id, refused.value.session_id) == (caller.client, entry.session)

        assert site.all_there_is() == before


class TestLeave:
    def test_ends_a_clients_part_and_keeps_its_registration(self, site: Site):
        entry = site.enter()
        caller = Caller("ada", entry.client)

        site.sessions.leave(entry.session, caller)

        with pytest.raises(InvalidClientId):
            site.sessions.keep(entry.session, caller)
        assert site.owns(entry.client)

    def test_does_nothing_for_who_takes_no_part(self, site: Site):
        entry = site.enter()
        before = site.all_there_is()

        for caller in (SOMEBODY, Caller("bob", entry.client), Caller("ada", ClientId("x"))):
            site.sessions.leave(entry.session, caller)

        assert site.all_there_is() == before


class TestClose:
    def test_takes_all_of_the_session_away_and_tells_it(self, site: Site):
        entry = site.enter()
        site.watch(entry.session, "s")

        site.sessions.close(entry.session, Caller("ada", entry.client))

        left = {name.removeprefix(site.keys.base) for name in site.all_there_is()}
        assert left == {":lane", ":events", f":client:{entry.client}"}
        (event,) = site.events()
        assert (event.id, event.type, event.originator) == (1, "session_closed", entry.client)
        assert event.data_json == (
            f'{{"sessionId":"{entry.session}","reason":"client_close","closedBy":"{entry.client}"}}'
        )

    def test_names_nobody_when_nobody_says_who_it_is(self, site: Site):
        entry = site.enter()

        site.sessions.close(entry.session, SOMEBODY)

        (event,) = site.events()
        assert event.data_json == f'{{"sessionId":"{entry.session}","reason":"client_close"}}'
        assert event.originator is None

    def test_leaves_the_shared_session_alone_when_it_is_another(self, site: Site):
        shared, own = site.enter(), site.enter(is_shared=False)

        site.sessions.close(own.session, SOMEBODY)

        assert site.enter().session == shared.session

    def test_goes_on_with_the_numbers_of_the_log(self, site: Site):
        for _ in range(2):
            site.sessions.close(site.enter().session, SOMEBODY)

        assert [event.id for event in site.events()] == [1, 2]
        assert EventLog(site.redis).state(site.workspace).last_id == 2

    def test_refuses_a_session_that_was_closed(self, site: Site):
        entry = site.enter()
        site.sessions.close(entry.session, SOMEBODY)
        before = site.all_there_is()

        with pytest.raises(SessionNotFound):
            site.sessions.close(entry.session, SOMEBODY)

        assert site.all_there_is() == before

    def test_refuses_a_client_that_takes_no_part(self, site: Site):
        entry, other = site.enter(), site.enter(is_shared=False)
        before = site.all_there_is()

        with pytest.raises(InvalidClientId):
            site.sessions.close(entry.session, Caller("ada", other.client))

        assert site.all_there_is() == before


def test_who_comes_at_the_same_time_shares_one_session(site: Site):
    with ThreadPoolExecutor(8) as crowd:
        entries = list(crowd.map(lambda _: site.enter(), range(32)))

    assert len({entry.session for entry in entries}) == 1
    assert len({entry.client for entry in entries}) == 32
    assert [entry.is_attached for entry in entries].count(False) == 1


def test_sessions_and_client_ids_survive_a_crash_of_redis(own_redis: EmbeddedRedis):
    site = Site(connect(own_redis.state_url))
    entry = site.enter()
    kill_redis(own_redis)
    own_redis.start()

    assert site.enter(Caller("ada", entry.client)) == SessionEntry(
        entry.session, entry.client, is_attached=True, created_ms=entry.created_ms
    )


def test_without_redis_nothing_is_said_to_be_done(own_redis: EmbeddedRedis):
    site = Site(connect(own_redis.state_url))
    entry = site.enter()
    own_redis.stop()

    for attempt in (
        site.enter,
        lambda: site.owns(entry.client),
        lambda: site.sessions.keep(entry.session, SOMEBODY),
        lambda: site.sessions.leave(entry.session, Caller("ada", entry.client)),
        lambda: site.sessions.close(entry.session, SOMEBODY),
        lambda: site.watch(entry.session, "s"),
        lambda: site.sessions.unwatch(entry.session, "s"),
    ):
        with pytest.raises(StorageUnavailable):
            attempt()
