"""Composition of ``memlane up``: embedded Redis, web and one worker under one supervisor."""

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing

from core.errors import ConfigError
from core.logs import configure_logs
from core.settings import Settings
from events.connect import connect, storage_errors
from memlane.cli.announcement import Announcement
from memlane.embedded import EmbeddedRedis
from memlane.engine import find_engine
from memlane.listening import base_url, bind, is_exposed
from memlane.parts import REDIS_GRACE_S, RedisUrls, web_part, worker_part
from memlane.site import open_site
from memlane.start_probe import StartProbe
from memlane.supervisor import Part, StartCondition, Supervisor

_START_LIMIT_S = 30.0


def run(settings: Settings, *, as_json: bool) -> None:
    """Run until SIGINT or SIGTERM; afterwards no process of ours is left.

    Args:
        as_json: print one JSON line once ready, in place of the text for people.

    Raises:
        ConfigError: a setting, folder or port does not allow the start.
        RedisDidNotStart: the embedded Redis did not start.
        StorageUnavailable: the Redis that was named gives no answer.
        StartFailed: web or worker was not ready within 30 s.
        PartRefused: web or worker refused its configuration.
    """
    configure_logs(settings.log_level, process="up")
    with ExitStack() as held:
        site = open_site(settings, held_by=held)
        listener = held.enter_context(bind(settings.host, settings.port))
        os.chdir(settings.home)
        urls, redis_parts = _open_redis(settings, held)
        announcement = Announcement(site, base_url(listener), urls.state)
        if is_exposed(listener):
            sys.stderr.write(announcement.exposure())
        condition = StartCondition(
            probe=StartProbe(announcement.url, urls.state),
            announce=_teller(announcement, as_json=as_json),
            limit_s=_START_LIMIT_S,
        )
        Supervisor([*redis_parts, web_part(site, urls, listener), worker_part(site, urls)]).run(condition)


def _teller(announcement: Announcement, *, as_json: bool) -> Callable[[], None]:
    def tell() -> None:
        sys.stdout.write(announcement.as_json() if as_json else announcement.as_text())
        sys.stdout.flush()

    return tell


def _open_redis(settings: Settings, held: ExitStack) -> tuple[RedisUrls, list[Part]]:
    if settings.redis_url is not None:
        _check_redis(settings.redis_url)
        return RedisUrls(settings.state, settings.broker), []
    server = EmbeddedRedis(settings.home / "redis", find_engine(settings.redis_bin))
    held.callback(server.close)
    server.start()
    urls = RedisUrls(server.state_url, settings.broker_url or server.broker_url)
    return urls, [Part("redis", server.ensure_running, REDIS_GRACE_S)]


def _check_redis(url: str) -> None:
    try:
        client = connect(url)
    except ValueError:
        raise ConfigError("the Redis URL must start with redis://, rediss:// or unix://") from None
    with closing(client), storage_errors():
        client.ping()
