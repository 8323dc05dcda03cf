"""Which session a message belongs to."""

import asyncio
from collections.abc import Callable, Coroutine
from itertools import islice
from typing import Any

from channels.bridge import AgentBridge
from channels.config import ChannelConfig
from channels.envelope import Envelope
from channels.errors import AgentSessionFailed
from channels.routes import Route, RouteKey, RouteStore
from core.errors import MemlaneError
from core.logs import get_logger

CREATION_ATTEMPTS = 2
JOIN_RETRIES = 3
MAX_ROUTES = 500

_log = get_logger(__name__)


class Router:
    """A channel's sessions by who shares them, those that were used last. For one event loop."""

    def __init__(
        self,
        config: ChannelConfig,
        *,
        bridge: Callable[[], AgentBridge],
        store: RouteStore,
        on_too_many: Callable[[str], None],
    ) -> None:
        """Bind the parts.

        Args:
            bridge: the bridge of the moment.
            on_too_many: is told of each session that is forgotten for a newer one.
        """
        self._config = config
        self._bridge = bridge
        self._store = store
        self._on_too_many = on_too_many
        self._routes: dict[RouteKey, Route] = {}
        self._opening: dict[RouteKey, asyncio.Task[str]] = {}
        self._last: dict[RouteKey, asyncio.Future[None]] = {}
        self._died: set[str] = set()

    def key_of(self, envelope: Envelope) -> RouteKey:
        """Who shares the session that the message belongs to."""
        match self._config.session_scope:
            case "single":
                return (self._config.name,)
            case "thread":
                return (self._config.name, envelope.chat_id, envelope.thread_id or "")
            case "user":
                return (self._config.name, envelope.sender_id, envelope.chat_id)

    def find(self, envelope: Envelope) -> str | None:
        """The session of a message, if there is one."""
        route = self._routes.get(self.key_of(envelope))
        return route.session_id if route is not None else None

    def route_of(self, session_id: str) -> Route | None:
        """Whom a session serves; None for one that serves nobody."""
        return next((route for route in self._routes.values() if route.session_id == session_id), None)

    async def resolve(self, envelope: Envelope) -> str:
        """The session of a message, opened if there is none; all who wait for it share it, in their order.

        Raises:
            AgentSessionFailed: the agent opened none that can be used.
            DependencyError: the agent failed.
        """
        key = self.key_of(envelope)
        before, found = self._last.get(key), asyncio.get_running_loop().create_future()
        self._last[key] = found
        try:
            return await self._resolve(key, envelope, before=before)
        finally:
            found.set_result(None)
            if self._last[key] is found:
                del self._last[key]

    async def _resolve(
        self, key: RouteKey, envelope: Envelope, *, before: "asyncio.Future[None] | None"
    ) -> str:
        for _ in range(JOIN_RETRIES):
            opening = self._opening.get(key)
            if opening is None:
                break
            await asyncio.wait({opening})
        if before is not None and not before.done():  # it was woken, and goes on in a moment
            await asyncio.wait({before})
        route = self._routes.pop(key, None)
        if route is not None:
            self._routes[key] = route  # the one that was used last comes last
            return route.session_id
        opening = self._opening.get(key) or self._open(key, envelope)
        await asyncio.wait({opening})
        return opening.result()

    async def restore(self) -> None:
        """Go on with the sessions that were saved; a message for one of them waits until that is settled.

        One that the agent has no more is dropped.
        """
        saved = await self._store.load()
        for key, route in islice(saved.items(), max(0, len(saved) - MAX_ROUTES), None):
            self._reserve(key, self._load(key, route))
        opening = set(self._opening.values())
        if opening:
            await asyncio.wait(opening)
            await self.save()

    def forget(self, session_id: str) -> bool:
        """Note that a session is no more, at once; tells whether anybody was routed to it."""
        if self._opening:
            self._died.add(session_id)
        keys = [key for key, route in self._routes.items() if route.session_id == session_id]
        for key in keys:
            del self._routes[key]
        return bool(keys)

    def _open(self, key: RouteKey, envelope: Envelope) -> "asyncio.Task[str]":
        return self._reserve(key, self._create(key, envelope))

    def _reserve(self, key: RouteKey, work: Coroutine[Any, Any, str]) -> "asyncio.Task[str]":
        task = asyncio.create_task(work)
        self._opening[key] = task
        task.add_done_callback(lambda done: self._opened(key, done))
        return task

    def _opened(self, key: RouteKey, task: "asyncio.Task[str]") -> None:
        del self._opening[key]
        if not self._opening:
            self._died.clear()
        if not task.cancelled():
            task.exception()  # told to those who wait for it, if any do

    async def _create(self, key: RouteKey, envelope: Envelope) -> str:
        for _ in range(CREATION_ATTEMPTS):
            config = self._config
            session_id = await self._bridge().new_session(
                config.cwd, mode=config.approval_mode, model=config.model
            )
            if not isinstance(session_id, str) or not session_id:
                raise AgentSessionFailed("the agent opened a session without an id")
            if session_id not in self._died:
                self._add(key, Route(session_id, envelope.target, self._config.cwd))
                await self.save()
            if session_id not in self._died:  # nor while it was saved, which takes as long as the store does
                return session_id
        raise AgentSessionFailed("the agent's sessions died while they were opened")

    async def _load(self, key: RouteKey, route: Route) -> str:
        try:
            session_id = await self._bridge().load_session(route.session_id, cwd=route.cwd)
            if session_id in self._died:
                raise AgentSessionFailed("the agent's session died while it was restored")
        except MemlaneError as error:
            _log.info("channel_session_not_restored", channel=self._config.name, reason=error.code)
            raise
        self._add(key, Route(session_id, route.target, route.cwd))
        return session_id

    def _add(self, key: RouteKey, route: Route) -> None:
        self._routes[key] = route
        if len(self._routes) > MAX_ROUTES:
            forgotten = self._routes.pop(next(iter(self._routes)))
            self._on_too_many(forgotten.session_id)

    async def save(self) -> None:
        """Keep the routes as they are now, at the store's best effort."""
        try:
            await self._store.save(dict(self._routes))
        except MemlaneError as error:
            _log.warning("channel_routes_not_saved", channel=self._config.name, reason=error.code)
