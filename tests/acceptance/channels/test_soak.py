"""Messages, cancels, clears, crashes and restarts in any order: nothing is lost, nothing comes twice."""

import logging
import random

import pytest
import structlog
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from events.connect import connect
from tests.support.channels.soak import CHATS, play
from tests.support.channels.soak_machine import machine_of
from tests.support.redis_server import running_redis

WEIGHTS = {
    "say": 30,
    "hurry": 6,
    "burst": 6,
    "answer": 26,
    "repeat": 8,
    "cancel": 5,
    "clear": 4,
    "fail": 4,
    "die": 3,
    "wait": 4,
    "restart": 3,
    "sleep": 2,
}
STEPS = settings(
    max_examples=25,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # a failure tells what to play; to make that shorter takes minutes
    suppress_health_check=[HealthCheck.too_slow],
)
MODES = ("collect", "steer", "followup")


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    """A server that need not outlive anything: thousands of writes would each wait for the disk."""
    with running_redis(tmp_path_factory.mktemp("soak-redis")) as server:
        connect(server.state_url).config_set("appendfsync", "no")
        yield server.state_url


@pytest.fixture(autouse=True)
def few_words():
    """Thousands of lines about what is meant to happen would take most of the time."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    yield
    structlog.configure(**before)


def drawn(seed, messages):
    """So many messages with all that may happen between them."""
    chance = random.Random(seed)
    said = 0
    while said < messages:
        action = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        said += {"say": 1, "hurry": 1, "burst": 3}.get(action, 0)
        yield action, chance.randrange(CHATS), chance.randrange(1_000)


@pytest.mark.parametrize("mode", MODES)
def test_whatever_happens_each_message_is_answered_once_or_told_of(redis_url, mode):
    run_state_machine_as_test(machine_of(redis_url, mode), settings=STEPS)


@pytest.mark.parametrize(("mode", "messages"), [("steer", 500), ("collect", 200), ("followup", 200)])
def test_hundreds_of_messages_over_twenty_chats_keep_every_promise(redis_url, mode, messages):
    assert play(redis_url, mode, drawn(1, messages)) == []


@pytest.mark.storm
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(20))
def test_many_times_five_hundred_messages_keep_every_promise(redis_url, mode, seed):
    assert play(redis_url, mode, drawn(seed, 500)) == []
