"""Composition of ``memlane up``: embedded Redis, web, one worker and chat channels under one supervisor."""

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace

from core.errors import ConfigError
from core.logs import configure_logs
from core.settings import Settings, changed_environment, load_model_settings
from events.connect import connect, storage_errors
from jobs.client import require_fit_redis
from memlane.backlog import Backlog
from memlane.channels.configuration import load_channels, workspace_of
from memlane.cli.announcement import Announcement
from memlane.embedded import REDIS_FOLDER, EmbeddedRedis
from memlane.engine import find_engine
from memlane.listening import base_url, bind, is_exposed
from memlane.model_choice import choose_model
from memlane.own_store import open_own_store
from memlane.parts import REDIS_GRACE_S, RedisUrls, channels_part, web_part, worker_part
from memlane.run_record import recorded
from memlane.site import Site, open_site
from memlane.start_probe import StartProbe
from memlane.stop_signals import StopSignals
from memlane.supervisor import Part, StartCondition, Supervisor
from memory.errors import StoreBusy, StoreUnusable

_START_LIMIT_S = 30.0


def run(settings: Settings, *, as_json: bool) -> None:
    """Run until SIGINT or SIGTERM; afterwards no process of ours is left.

    Args:
        as_json: print one JSON line once ready, in place of the text for people.

    Raises:
        ConfigError: a setting, folder or port does not allow the start, or the Redis that was named may lose
            what is accepted.
        RedisDidNotStart: the embedded Redis did not start.
        StorageUnavailable: the Redis that was named gives no answer.
        StartFailed: web or worker was not ready within 30 s.
        PartRefused: web or worker refused its configuration.
    """
    configure_logs(settings.log_level, process="up")
    farewell = "stopped\n"
    # a stop before the supervisor takes over interrupts, and what was started by then has been stopped
    with StopSignals() as signals, suppress(KeyboardInterrupt):
        farewell = _serve(settings, signals, as_json=as_json)
    if not as_json:
        _say(farewell)


def _serve(settings: Settings, signals: StopSignals, *, as_json: bool) -> str:
    """Start everything, wait for the signal, stop everything; returns what to say then."""
    model = choose_model(settings, load_model_settings())
    with ExitStack() as held:
        site = open_site(settings, held_by=held)
        _require_usable_channels(site)
        paths = [workspace.path for workspace in site.workspaces]
        listener = held.enter_context(bind(settings.host, settings.port))
        held.enter_context(recorded(settings.home, base_url(listener), paths))
        os.chdir(settings.home)
        redis = _open_redis(settings, held)
        site = _with_own_store(site, redis.urls)
        announcement = Announcement(site, base_url(listener), redis.urls.state, model)
        if is_exposed(listener):
            sys.stderr.write(announcement.exposure())
        backlog = Backlog(redis.urls.state, [workspace.id for workspace in site.workspaces])
        parts = [web_part(site, redis.urls, listener), worker_part(site, redis.urls)]
        if site.settings.channels_path.exists():
            parts.append(channels_part(site, redis.urls))
        if redis.server is not None:
            parts.insert(0, Part("redis", redis.server.ensure_running, REDIS_GRACE_S, backlog.count))
        condition = StartCondition(
            probe=StartProbe(announcement.url, redis.urls.state),
            announce=_teller(announcement, as_json=as_json),
            limit_s=_START_LIMIT_S,
        )
        Supervisor(parts).run(condition, signals)
        if redis.server is None:
            backlog.count()
    return backlog.farewell()


def _require_usable_channels(site: Site) -> None:
    """The process that serves them would refuse as well, before or after all else has started."""
    path = site.settings.channels_path
    if path.exists():
        environment = changed_environment({})
        for read in load_channels(path, workspaces=site.workspaces, environment=environment):
            workspace_of(read.config, site.workspaces)


@dataclass(frozen=True, slots=True)
class _Redis:
    """Where Redis is; ``server`` is None when it is not ours."""

    urls: RedisUrls
    server: EmbeddedRedis | None = None


def _with_own_store(site: Site, urls: RedisUrls) -> Site:
    """Open the memory store once for all parts; a worker that is restarted never makes another one."""
    settings = site.settings.model_copy(update={"redis_url": urls.state})
    try:
        store = open_own_store(settings, site.workspaces)
        store.require_writable()
    except (StoreUnusable, StoreBusy) as error:
        raise ConfigError(f"the memory folder can't be used: {error}") from None
    return replace(site, settings=settings.model_copy(update={"store_id": store.store_id}))


def _teller(announcement: Announcement, *, as_json: bool) -> Callable[[], None]:
    return lambda: _say(announcement.as_json() if as_json else announcement.as_text())


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _open_redis(settings: Settings, held: ExitStack) -> _Redis:
    if settings.redis_url is not None:
        with closing(connect(settings.redis_url)) as client, storage_errors():
            client.ping()
        if settings.redis_check == "refuse":  # otherwise web and worker log what they find
            require_fit_redis(settings)
        return _Redis(RedisUrls(settings.state, settings.broker))
    server = EmbeddedRedis(settings.home / REDIS_FOLDER, find_engine(settings.redis_bin))
    held.callback(server.close)
    server.start()
    return _Redis(RedisUrls(server.state_url, settings.broker_url or server.broker_url), server)
