"""The agent child of one workspace: started when it is needed, stopped when it isn't."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from acp_bridge.backoff import Backoff
from acp_bridge.connection import Connection
from acp_bridge.errors import AgentDied, AgentKilled, AgentProtocolError, AgentTimeout, AgentUnavailable
from acp_bridge.limits import START_ATTEMPTS
from acp_bridge.process import Launch
from core import clock
from core.logs import get_logger

_log = get_logger(__name__)


class WorkspaceAgent:
    """Keeps at most one usable child for a workspace. For use on one loop's thread."""

    def __init__(self, launch: Launch, workspace: str, *, idle_s: float, on_idle: Callable[[], None]) -> None:
        """Start nothing yet; a child without work for ``idle_s`` seconds will be stopped.

        Args:
            on_idle: called each time a child has nothing to do any more.
        """
        self._launch = launch
        self._workspace = workspace
        self._idle_s = idle_s
        self._on_idle = on_idle
        limits = launch.limits
        self._backoff = Backoff(first_s=limits.first_backoff_s, max_s=limits.max_backoff_s)
        self._connection: Connection | None = None
        self._starting: asyncio.Task[Connection] | None = None
        self._halted = asyncio.Event()
        self._closed = False
        self._users = 0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._leaving: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """Process id of the child's guard, None while there is no usable one."""
        return self._connection.pid if self._connection is not None and self._connection.alive else None

    @property
    def occupied(self) -> bool:
        """Whether it has a child or is about to."""
        return self._users > 0 or self.pid is not None

    @property
    def idle(self) -> bool:
        """Whether it has a child that nobody uses."""
        return self._users == 0 and self.pid is not None

    @asynccontextmanager
    async def use(self) -> AsyncIterator[Connection]:
        """Lend the connection, starting a child first if there is none.

        Raises:
            AgentUnavailable: no child could be started, ``START_ATTEMPTS`` times in a row.
            AgentKilled: ``kill`` or ``close`` came first.
        """
        self._users += 1
        self._cancel_idle_timer()
        try:
            yield await self._connected()
        except (AgentDied, AgentTimeout):
            if self.pid is None:  # else it was another child, which the same body uses
                self._backoff.died(clock.boot_ms())
            raise
        else:
            self._backoff.succeeded()
        finally:
            self._users -= 1
            self._arm_idle_timer()
            if self.idle:
                self._on_idle()

    def kill(self) -> None:
        """Kill the child's group at once; running calls fail with ``AgentKilled``."""
        self._halted.set()
        if self._connection is not None:
            self._connection.lose(AgentKilled("the agent was killed"))

    def extend_to(self, deadline_ms: int) -> None:
        """Let a foreign child that is in a memory call live until this moment, in milliseconds since boot."""
        if self._connection is not None:
            self._connection.extend_to(deadline_ms)

    def retire(self) -> None:
        """Let the child go in three steps, in the background; a next use starts another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            leaving = asyncio.create_task(connection.stop())
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    async def close(self) -> None:
        """Stop the child and wait for its end; nothing can be started afterwards."""
        self._closed = True
        self._halted.set()
        self._cancel_idle_timer()
        self.retire()
        waiting = self._leaving | ({self._starting} if self._starting is not None else set())
        if waiting:
            await asyncio.wait(waiting)

    async def _connected(self) -> Connection:
        for _ in range(START_ATTEMPTS):
            connection = await self._current()
            if connection.alive:  # it may have died while we waited; nothing was sent, so another will do
                return connection
        raise AgentUnavailable("the agent died as soon as it was started")

    async def _current(self) -> Connection:
        if self._closed:
            raise AgentKilled("the bridge is closed")
        if self._starting is None:
            if self._connection is not None and self._connection.alive:
                return self._connection
            self._halted.clear()
            self._starting = asyncio.create_task(self._start())
        starting = self._starting
        await asyncio.wait({starting})
        return starting.result()

    async def _start(self) -> Connection:
        try:
            for _ in range(START_ATTEMPTS):
                await self._pause()
                connection = await self._open()
                if connection is not None:
                    return connection
        finally:
            self._starting = None
        raise AgentUnavailable(f"the agent died at start {START_ATTEMPTS} times in a row")

    async def _pause(self) -> None:
        pause_s = self._backoff.remaining_s(clock.boot_ms())
        with suppress(TimeoutError):
            await asyncio.wait_for(self._halted.wait(), pause_s)
        if self._halted.is_set():
            raise AgentKilled("the agent was killed before it started")

    async def _open(self) -> Connection | None:
        # known before it is open, so that a kill in the meantime reaches it
        connection = self._connection = Connection(self._launch, self._workspace)
        try:
            await connection.open()
        except (AgentDied, AgentTimeout, AgentProtocolError) as error:
            self._backoff.died(clock.boot_ms())
            _log.warning("agent_start_failed", cause=error.code, stderr=connection.stderr_tail)
            return None
        _log.info("agent_started", pid=connection.pid, workspace=self._workspace)
        return connection

    def _arm_idle_timer(self) -> None:
        self._cancel_idle_timer()
        if self.idle:
            self._idle_timer = asyncio.get_running_loop().call_later(self._idle_s, self.retire)

    def _cancel_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
