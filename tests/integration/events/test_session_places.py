"""Places of a session's streams, on a real server: one test for each answer of the script."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from core.ids import new_client_session_id
from events.connect import connect
from events.errors import SessionNotFound, SubscriberLimitExceeded
from events.sessions import MAX_STREAMS
from tests.support.session_site import SESSION_LIFE_MS, Site


@pytest.fixture
def site(redis_url: str) -> Site:
    return Site(connect(redis_url))


def test_a_session_has_so_many_places_and_no_more(site: Site):
    session = site.enter().session
    for number in range(MAX_STREAMS):
        site.watch(session, f"s{number}")
    before = site.all_there_is()

    with pytest.raises(SubscriberLimitExceeded) as refused:
        site.watch(session, "one too many")

    assert refused.value.limit == MAX_STREAMS == 64
    assert site.all_there_is() == before
    site.watch(session, "s0")  # who has one keeps it


def test_a_place_that_was_given_up_is_free(site: Site):
    session = site.enter().session
    for number in range(MAX_STREAMS):
        site.watch(session, f"s{number}")

    site.sessions.unwatch(session, "s0")

    site.watch(session, "next")


def test_a_place_whose_holder_is_dead_is_free(site: Site):
    session = site.enter().session
    for number in range(MAX_STREAMS):
        site.watch(session, f"s{number}")
    site.redis.zadd(site.keys.session_streams(session), {"s7": 1})

    site.watch(session, "next")

    assert site.redis.zscore(site.keys.session_streams(session), "s7") is None


def test_a_place_that_is_kept_keeps_the_session_alive(site: Site):
    session = site.enter().session
    site.age(session)

    site.watch(session, "s")

    assert site.lives(site.keys.session(session), SESSION_LIFE_MS)
    assert site.lives(site.keys.session_clients(session), SESSION_LIFE_MS)
    assert site.lives(site.keys.session_streams(session), SESSION_LIFE_MS)


def test_a_session_that_is_not_there_has_no_places(site: Site):
    with pytest.raises(SessionNotFound):
        site.watch(new_client_session_id(site.workspace), "s")

    assert site.all_there_is() == {}


def test_a_crowd_gets_all_places_and_no_more(site: Site):
    session = site.enter().session

    def has_place(number: int) -> bool:
        try:
            site.watch(session, f"s{number}")
        except SubscriberLimitExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as crowd:
        assert sum(crowd.map(has_place, range(80))) == MAX_STREAMS
