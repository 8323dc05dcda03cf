"""How channels stand, as who looks on sees them."""

import pytest

from events.chat.board import ChannelBoard, KnownChannel
from events.chat.store import ChannelStore
from events.connect import connect
from events.errors import StorageUnavailable
from tests.support.lane import fresh_workspace_id

TOLD = {"state": "connected", "since": "1700000000000", "reason": "", "process": "h:7"}


@pytest.fixture
def workspace():
    return fresh_workspace_id()


@pytest.fixture
def store(redis_url, workspace):
    return ChannelStore(connect(redis_url), workspace, "team")


@pytest.fixture
def look(redis_url, workspace):
    """Look at the channel now."""
    board = ChannelBoard(connect(redis_url), [KnownChannel("team", "telegram", workspace)])
    return lambda: board.standings()[0]


def test_a_channel_that_nobody_ever_served_is_unserved(look):
    found = look()

    assert (found.state, found.since_ms, found.reason, found.process) == ("unserved", None, None, None)


def test_what_who_serves_it_said_last_is_told(store, look):
    store.claim("me", life_ms=60_000, told=TOLD | {"state": "starting"})
    store.claim("me", life_ms=60_000, told=TOLD)

    found = look()

    assert (found.state, found.since_ms, found.reason) == ("connected", 1_700_000_000_000, None)
    assert found.process == "h:7"


def test_one_who_does_not_serve_it_changes_nothing_of_that(store, look, redis_url, workspace):
    store.claim("me", life_ms=60_000, told=TOLD)
    store.claim("another", life_ms=60_000, told=TOLD | {"state": "starting", "process": "h:8"})
    other = ChannelStore(connect(redis_url), workspace, "team")
    other.release(told=TOLD | {"state": "stopped", "process": "h:8"})

    assert (look().state, look().process) == ("connected", "h:7")


def test_a_channel_whose_process_left_is_unserved(store, look):
    store.claim("me", life_ms=60_000, told=TOLD)
    store.release(told=TOLD | {"state": "stopped"})

    found = look()

    assert (found.state, found.since_ms, found.process) == ("unserved", None, "h:7")


def test_a_channel_whose_process_vanished_is_unserved_although_it_said_otherwise(store, look):
    store.claim("me", life_ms=-1, told=TOLD)

    assert look().state == "unserved"


def test_why_a_channel_failed_is_told_until_it_is_served_again(store, look):
    store.claim("me", life_ms=60_000, told=TOLD)
    store.release(told=TOLD | {"state": "stopped", "reason": "the token is not known"})

    found = look()

    assert (found.state, found.reason) == ("stopped", "the token is not known")


def test_messages_that_are_not_done_with_are_counted(store, look):
    for key in "abc":
        store.put("{}", keys=[key])

    assert look().waiting == 3


def test_without_redis_nothing_is_told():
    with pytest.raises(StorageUnavailable):
        ChannelBoard(
            connect("redis://127.0.0.1:1/0"), [KnownChannel("a", "slack", fresh_workspace_id())]
        ).standings()
