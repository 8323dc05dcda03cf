"""The bridge: what a worker's threads call to have agent children work on memory.

Calls block; inside, all children are driven by one event loop on one daemon thread.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager

from acp_bridge import direct_tasks, methods
from acp_bridge.agent_pool import AgentPool
from acp_bridge.connection import Connection
from acp_bridge.direct_tasks import MAX_RECORD_TRIES, DirectTask
from acp_bridge.environment import child_environment
from acp_bridge.errors import AgentDied, AgentProtocolError, AgentTimeout, AgentUnavailable
from acp_bridge.limits import Limits
from acp_bridge.loop_thread import LoopThread
from acp_bridge.notices import ProgressListener, ignore_progress
from acp_bridge.process import Launch
from acp_bridge.task_call import TaskCall
from core import acp, clock
from core.errors import ConfigError
from core.logs import get_logger
from core.memory_calls import MemoryCall, TaskResult

_DEFAULT_LIMITS = Limits()

_log = get_logger(__name__)


def open_bridge(  # noqa: PLR0913 - keywords only, most of them with one call
    *,
    command: Sequence[str],
    own_command: Sequence[str],
    environment: Mapping[str, str],
    idle_s: float,
    limits: Limits = _DEFAULT_LIMITS,
    keep_fds: Sequence[int] = (),
) -> "Bridge":
    """Make a bridge. It starts its thread at once (so fork before), children when they are needed.

    Args:
        command: starts an agent child that speaks ACP over stdio; run in the workspace's directory.
        own_command: starts a child of ours, whatever ``command`` is.
        environment: where children's variables are picked from, see ``child_environment``.
        idle_s: seconds after which a child without work is stopped, > 0.
        keep_fds: descriptors that every child inherits, > 2. Who later gets the lock on such a file knows
            that this process and all its children are dead.

    Raises:
        ConfigError: one of the commands is empty.
    """
    if not command or not own_command:
        raise ConfigError("the agent command is empty")
    allowed = child_environment(environment)
    kept = tuple(keep_fds)
    agent, own = (Launch(tuple(words), allowed, limits, kept) for words in (command, own_command))
    return Bridge(agent, own=own, idle_s=idle_s)


class Bridge:
    """Agent children of all workspaces. Every method may be called from any thread, none from a loop."""

    def __init__(self, agent: Launch, *, own: Launch, idle_s: float) -> None:
        """Use ``open_bridge`` instead."""
        self._own_launch = own
        self._limits = agent.limits
        self._agents = AgentPool(agent, idle_s=idle_s)
        self._companions = AgentPool(own, idle_s=idle_s)  # children of ours, where those above are foreign
        self._own_children: set[Connection] = set()
        self._task_calls: set[TaskCall] = set()
        self._thread = LoopThread("acp-bridge")

    def run(
        self,
        workspace: str,
        call: MemoryCall,
        meta: acp.TaskMeta,
        *,
        on_progress: ProgressListener = ignore_progress,
    ) -> TaskResult:
        """Have the workspace's child work on memory, and block until it has or hasn't.

        The child has ``meta.timeout_ms`` and the reserve, counted from when it is sent the request. Beside a
        foreign child a child of ours is kept: it serves what the foreign one can't, and records what that one
        does, see ``direct_tasks.run``.

        Args:
            workspace: canonical path.
            on_progress: called on the bridge's thread with each progress that a child of ours tells; must
                not block.

        Raises:
            AgentUnavailable: no child could be started; nothing was sent.
            AgentFailed: the child says that it failed; it stays warm.
            DirectAgentFailed: as above, and memory may have changed until ``resolve`` tells.
            AgentDied, AgentTimeout, AgentProtocolError, AgentKilled: whether it committed is unknown until
                ``resolve`` tells. Except after AgentProtocolError no process of that child is left.
        """
        limit_s = (meta.timeout_ms + self._limits.reserve_ms) / 1000
        lease_until_ms = clock.boot_ms() + self._limits.guard_ms

        async def work() -> TaskResult:
            task = TaskCall(
                workspace,
                meta.task_id,
                lease_until_ms=lease_until_ms,
                grace_s=self._limits.cancel_grace_s,
                on_progress=on_progress,
            )
            with self._under_way(task):
                return await self._run(task, call, meta=meta, limit_s=limit_s)

        beside_s = (1 + MAX_RECORD_TRIES) * self._limits.resolve_s
        bound_s = self._limits.call_bound_s(limit_s + beside_s)
        return self._thread.run(work, bound_s=bound_s + self._limits.longest_start_s)

    def available(self, workspace: str) -> bool:
        """Ask the workspace's child whether it can remember; starts one if there is none.

        Raises:
            Same as ``run``.
        """
        limit_s = self._limits.availability_s

        async def work() -> bool:
            async with self._agents.take(workspace).use() as connection:
                return await methods.available(connection, workspace, limit_s=limit_s)

        return self._thread.run(work, bound_s=self._limits.call_bound_s(limit_s))

    def resolve(self, workspace: str, params: acp.ResolveParams) -> acp.ResolveResult:
        """Ask a fresh child of ours whether a task ever committed; the usual one may be what crashes.

        Neither ``cancel`` nor ``kill`` reach it.

        Raises:
            AgentUnavailable: it could not be started, or died or hung before it could be asked.
            AgentFailed, AgentDied, AgentTimeout, AgentProtocolError, AgentKilled: no usable answer; whether
                the task was closed is unknown. Ask again.
        """
        bound_s = self._limits.call_bound_s(self._limits.resolve_s)
        return self._thread.run(lambda: self._resolve(workspace, params), bound_s=bound_s)

    def extend(self, workspace: str, ms: int) -> None:
        """Let the workspace's child live ``ms`` milliseconds from now, if its life depends on a lease.

        That is a foreign child's in a memory call: its guard kills it at the deadline that was set last, at
        first ``Limits.guard_ms`` after ``run`` was called. Call this after each renewal with what the lease
        has left, less a margin. Any other child lives as long as this process. Doesn't wait.
        """
        deadline_ms = clock.boot_ms() + ms

        def extend_agent() -> None:
            self._agents.extend_to(workspace, deadline_ms)
            for task in self._task_calls:
                if task.workspace == workspace:
                    task.lease_until_ms = deadline_ms

        self._thread.post(extend_agent)

    def cancel(self, workspace: str, task_id: str) -> None:
        """Have the child that works on a task give it up; doesn't wait.

        A child of ours is told, and stays warm: the running call raises ``AgentFailed`` with kind
        ``task_cancelled``, or returns what it had committed by then. One that does neither within the grace
        is killed, any other at once, one that is still starting too: the call raises ``AgentKilled``. If
        the task doesn't run here nothing happens.
        """

        def give_up() -> None:
            for task in self._task_calls:
                if task.task_id == task_id and not task.give_up():
                    self._agents.kill(workspace)
                    self._companions.kill(workspace)

        self._thread.post(give_up)

    def kill(self, workspace: str) -> None:
        """Kill the workspace's children, each with its whole process group; doesn't wait for their end.

        Running calls raise ``AgentKilled`` once the group is gone. Without a child nothing happens.
        """

        def kill_all() -> None:
            self._agents.kill(workspace)
            for task in self._task_calls:
                if task.workspace == workspace:
                    task.kill()

        self._thread.post(kill_all)

    def children(self) -> Mapping[str, int]:
        """Process ids of the living children's guards, which lead their process groups, by workspace.

        Raises:
            AgentKilled: the bridge is closed.
        """

        async def work() -> Mapping[str, int]:
            return self._agents.pids()

        return self._thread.run(work, bound_s=self._limits.slack_s)

    def close(self) -> None:
        """Stop every child in three steps and end the bridge's thread.

        Running calls, and all later ones, raise ``AgentKilled``. A second call does nothing.
        """
        self._thread.close(self._shut_down, bound_s=self._limits.longest_end_s + self._limits.slack_s)

    async def _run(
        self, task: TaskCall, call: MemoryCall, *, meta: acp.TaskMeta, limit_s: float
    ) -> TaskResult:
        async with self._agents.take(task.workspace).use() as connection:
            if connection.speaks_memlane:
                with task.on(connection):
                    return await methods.run(connection, call, meta=meta, limit_s=limit_s)
            async with self._companions.take(task.workspace).use() as own:
                with task.on(own if call.is_ours else connection):
                    if call.is_ours:
                        return await methods.run(own, call, meta=meta, limit_s=limit_s)
                    foreign_s, own_s = min(limit_s, self._limits.foreign_s), self._limits.resolve_s
                    direct = DirectTask(
                        call,
                        meta,
                        task.workspace,
                        lease_until_ms=lambda: task.lease_until_ms,
                        limit_s=foreign_s,
                        own_limit_s=own_s,
                    )
                    return await direct_tasks.run(direct, connection, own)

    @contextmanager
    def _under_way(self, task: TaskCall) -> Iterator[None]:
        self._task_calls.add(task)
        try:
            yield
        finally:
            self._task_calls.discard(task)

    async def _resolve(self, workspace: str, params: acp.ResolveParams) -> acp.ResolveResult:
        deadline_ms = clock.boot_ms() + round(self._limits.resolve_s * 1000)
        async with self._fresh_child(workspace) as connection:
            await _open_own(connection)
            limit_s = max(0, deadline_ms - clock.boot_ms()) / 1000
            return await methods.resolve(connection, params, limit_s=limit_s)

    @asynccontextmanager
    async def _fresh_child(self, workspace: str) -> AsyncIterator[Connection]:
        """Offer a child of ours for one call, which the body starts, and stop it."""
        connection = Connection(self._own_launch, workspace)
        self._own_children.add(connection)
        try:
            yield connection
        finally:
            await connection.stop()
            self._own_children.discard(connection)

    async def _shut_down(self) -> None:
        ends = [self._agents.close(), self._companions.close()]
        ends += [connection.stop() for connection in self._own_children]
        await asyncio.gather(*ends)


async def _open_own(connection: Connection) -> None:
    try:
        await connection.open()
    except (AgentDied, AgentTimeout, AgentProtocolError) as error:
        _log.warning("own_agent_failed", cause=error.code, stderr=connection.stderr_tail)
        raise AgentUnavailable("an agent of our own could not be started") from error
