import pytest

from events.connect import connect
from events.errors import StorageUnavailable
from jobs.registry import WorkerRegistry
from memlane.start_probe import StartProbe
from tests.support.scripted_service import Reply, scripted_service


def announce(redis_url: str, worker_id: str) -> None:
    with connect(redis_url) as client:
        WorkerRegistry(client).announce(worker_id, {"pid": "1"}, {})


def test_ready_means_a_new_worker_and_a_web_that_says_so(own_redis):
    announce(own_redis.state_url, "left-from-before")
    with scripted_service([Reply(503), Reply(200)]) as web:
        probe = StartProbe(web.url, own_redis.state_url)
        assert not probe()

        announce(own_redis.state_url, "new")

        assert not probe()
        assert probe()
    assert len(web.requests) == 2  # without a worker of ours the web is not asked


def test_a_web_that_is_not_there_is_not_ready(own_redis):
    with scripted_service([Reply()]) as web:
        url = web.url
    probe = StartProbe(url, own_redis.state_url)
    announce(own_redis.state_url, "new")

    assert not probe()


def test_while_redis_is_away_nothing_is_ready(own_redis):
    announce(own_redis.state_url, "left-from-before")
    probe = StartProbe("http://127.0.0.1:9", own_redis.state_url)
    own_redis.stop()

    assert not probe()


def test_without_redis_at_the_first_look_there_is_no_probe(own_redis):
    own_redis.stop()

    with pytest.raises(StorageUnavailable):
        StartProbe("http://127.0.0.1:9", own_redis.state_url)
