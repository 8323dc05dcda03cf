"""The JSON-RPC link to one agent child.

Messages are taken in arrival order on the loop's thread. A connection ends exactly once, for the first
cause that is found, and never before the child is reaped and its group killed: whoever sees a call
fail because of it may rely on nothing of that child being at work any more.
"""

import asyncio
import itertools
import signal
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from acp_bridge.errors import AgentDied, AgentKilled, AgentProtocolError, AgentTimeout
from acp_bridge.handshake import Handshake, initialize_params, read_handshake
from acp_bridge.lifeline import Lifeline
from acp_bridge.notices import Notices
from acp_bridge.process import ChildProcess, Launch
from acp_bridge.talk import Talk
from core import acp, jsonrpc
from core.errors import MemlaneError
from core.logs import get_logger

Answer = jsonrpc.Response | jsonrpc.ErrorResponse

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _PendingCall:
    """A call without an answer yet; an error in place of an answer is the connection's end."""

    method: str
    answer: asyncio.Future[Answer | MemlaneError]


class Connection:
    """A child and the calls that wait for its answers. For use on one loop's thread.

    Attributes:
        workspace: directory that the child runs in.
        notices: what the child tells by itself.
    """

    def __init__(self, launch: Launch, workspace: str) -> None:
        """Prepare a link to a child that runs in ``workspace``; ``open`` starts it."""
        self.notices = Notices()
        self._limits = launch.limits
        self._child = ChildProcess(launch, workspace, on_output=self._receive)
        self._lifeline = Lifeline(launch.limits, tell=self._child.extend_to)
        self._splitter = jsonrpc.LineSplitter(launch.limits.max_frame_bytes)
        self._ids = itertools.count(1)
        self._pending: dict[int, _PendingCall] = {}
        self._cause: MemlaneError | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._handshake: Handshake | None = None
        self._junk_lines = 0
        self._talk: Talk | None = None
        self.workspace = workspace

    def attach(self, talk: Talk) -> None:
        """Let somebody hear first what the child says without being asked."""
        self._talk = talk

    async def open(self) -> None:
        """Start the child and greet it.

        Raises:
            AgentUnavailable: the command can't be executed.
            AgentDied, AgentTimeout, AgentProtocolError, AgentKilled: it was started, but no usable answer
                to ``initialize`` came; the child is gone.
        """
        await self._child.start()
        ending = asyncio.create_task(self._see_end())
        self._tasks += [ending, asyncio.create_task(self._lifeline.hold(ending))]
        try:
            answer = await self.call(acp.INITIALIZE, initialize_params(), limit_s=self._limits.start_s)
            self._handshake = _handshake_in(answer)
        except MemlaneError as error:
            self.lose(error)
            await asyncio.wait({ending})
            raise
        self._tasks.append(asyncio.create_task(self._watch_pulse(ending)))

    @property
    def alive(self) -> bool:
        """Whether calls can be made: greeted, and no cause to end it has been found."""
        return self._handshake is not None and self._cause is None and self._child.running

    @property
    def pid(self) -> int:
        """Process id of the child's guard, which leads its group; 0 before the start."""
        return self._child.pid

    @property
    def speaks_memlane(self) -> bool:
        """Whether the child advertised our extensions at ``initialize``."""
        return self._handshake is not None and self._handshake.speaks_memlane

    @property
    def takes_images(self) -> bool:
        """Whether prompts may hold images."""
        return self._handshake is not None and self._handshake.takes_images

    @property
    def loads_sessions(self) -> bool:
        """Whether a session of before can be gone on with."""
        return self._handshake is not None and self._handshake.loads_sessions

    @property
    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines that the child wrote to stderr."""
        return self._child.stderr_tail

    def is_running(self, methods: Collection[str]) -> bool:
        """Whether a call of one of these methods waits for its answer."""
        return any(call.method in methods for call in self._pending.values())

    async def call(self, method: str, params: Mapping[str, Any], *, limit_s: float) -> Answer:
        """Ask the child and wait for what it says, failed answers included.

        Raises:
            AgentTimeout: nothing came within ``limit_s``; the child is gone.
            AgentDied, AgentProtocolError, AgentKilled: the connection ended first; the child is gone.
        """
        with self.asking(method, params) as answer:
            await asyncio.wait({answer}, timeout=limit_s)
            if not answer.done():
                self.lose(AgentTimeout(f"the agent did not answer within {limit_s:g} s"))
            outcome = await answer
        if isinstance(outcome, MemlaneError):
            raise outcome
        return outcome

    @contextmanager
    def asking(
        self, method: str, params: Mapping[str, Any]
    ) -> Iterator[asyncio.Future[Answer | MemlaneError]]:
        """Ask the child; the future gets its answer, or the connection's end, if that comes within the body.

        Raises:
            AgentTimeout, AgentDied, AgentProtocolError, AgentKilled: the connection has ended.
        """
        if self._cause is not None or not self._child.running:
            raise self._cause or AgentDied("the agent is gone", exit_code=self._child.exit_code)
        request_id = next(self._ids)
        answer: asyncio.Future[Answer | MemlaneError] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = _PendingCall(method, answer)
        try:
            self._send(jsonrpc.request(request_id, method, params))
            yield answer
        finally:
            self._pending.pop(request_id, None)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the child something that wants no answer; nothing happens once it is gone."""
        if self.alive:
            self._send(jsonrpc.notification(method, params))

    def under_lease(self) -> AbstractContextManager[None]:
        """For calls that may write memory: meanwhile a foreign child lives as long as ``extend_to`` says.

        It writes directly, so it must not work on when its lease may be another's. A child of ours stages
        and is refused by the store then, so it lives as long as this process does, whatever becomes of
        the lease.
        """
        return nullcontext() if self.speaks_memlane else self._lifeline.leased()

    def extend_to(self, deadline_ms: int) -> None:
        """Let a foreign child under lease live until this moment, in milliseconds since boot."""
        self._lifeline.extend_to(deadline_ms)

    def lose(self, cause: MemlaneError) -> None:
        """Kill the child's group; running calls fail with ``cause`` unless an earlier one was given."""
        if self._cause is None:
            self._cause = cause
            self._child.kill()

    async def stop(self) -> None:
        """End the child in three steps; running calls fail with ``AgentKilled``."""
        if self._cause is None:
            self._cause = AgentKilled("the bridge stopped the agent")
        if not self._tasks:
            self._child.kill()
            return
        await self._child.stop()
        await asyncio.wait(self._tasks)

    def _send(self, frame: bytes) -> None:
        self._child.write(frame)
        if self._child.unsent_bytes > self._limits.max_unsent_bytes:
            self.lose(AgentDied("the agent does not read what it is sent", exit_code=None))

    def _receive(self, chunk: bytes) -> None:
        if self._cause is not None:
            return
        try:
            lines = self._splitter.feed(chunk)
        except jsonrpc.FrameTooLarge:
            limit = self._limits.max_frame_bytes
            self.lose(AgentProtocolError(f"the agent sent a line of over {limit} bytes"))
            return
        for line in lines:
            self._take(jsonrpc.parse(line))

    def _take(self, message: jsonrpc.Message) -> None:
        match message:
            case jsonrpc.Response() | jsonrpc.ErrorResponse():
                self._take_answer(message)
            case jsonrpc.Request():
                if self._talk is None or not self._talk.asked(message, self._reply):
                    self._refuse(message)
            case jsonrpc.Notification():
                if self._talk is None or not self._talk.hear(message):
                    self.notices.take(message, pid=self.pid, is_ours=self.speaks_memlane)
            case jsonrpc.Junk():
                self._count_junk(message)

    def _take_answer(self, answer: Answer) -> None:
        call = self._pending.get(answer.id) if isinstance(answer.id, int) else None
        if call is None or call.answer.done():
            _log.warning("agent_answer_unasked", pid=self.pid)
            return
        call.answer.set_result(answer)

    def _reply(self, frame: bytes) -> None:
        if self.alive:
            self._send(frame)

    def _refuse(self, request: jsonrpc.Request) -> None:
        if request.method == acp.REQUEST_PERMISSION:
            # nobody is there to be asked; an error would be taken for a client that is broken
            self._send(jsonrpc.response(request.id, {"outcome": {"outcome": "cancelled"}}))
            return
        self._send(
            jsonrpc.error_response(
                request.id, error_code=jsonrpc.METHOD_NOT_FOUND, message="Method not found"
            )
        )

    def _count_junk(self, junk: jsonrpc.Junk) -> None:
        self._junk_lines += 1
        if self._junk_lines.bit_count() == 1:  # 1, 2, 4, 8…: a chatty child must not flood the log
            _log.warning("agent_junk", pid=self.pid, junk_lines=self._junk_lines, size_bytes=junk.size_bytes)

    async def _watch_pulse(self, ending: asyncio.Task[None]) -> None:
        misses = 0
        for nonce in itertools.count():
            await asyncio.wait({ending}, timeout=self._limits.ping_period_s)
            if not self.alive:
                return
            misses = 0 if await self._answers_ping(nonce) else misses + 1
            if misses == self._limits.ping_misses:
                self.lose(AgentDied(f"the agent missed {misses} pings in a row", exit_code=None))
                return

    async def _answers_ping(self, nonce: int) -> bool:
        with self.asking(acp.PING, {"v": 1, "nonce": nonce}) as answer:
            await asyncio.wait({answer}, timeout=self._limits.ping_limit_s)
            return answer.done()

    async def _see_end(self) -> None:
        await self._child.wait_ended()
        exit_code = self._child.exit_code
        self._cause = self._cause or self._cause_of_end(exit_code)
        for call in self._pending.values():
            if not call.answer.done():
                call.answer.set_result(self._cause)
        if self._talk is not None:
            self._talk.ended()
        facts = {"pid": self.pid, "exit_code": exit_code, "junk_lines": self._junk_lines}
        _log.info("agent_ended", reason=str(self._cause), **facts)

    def _cause_of_end(self, exit_code: int | None) -> MemlaneError:
        if exit_code == -signal.SIGKILL and self._lifeline.has_lapsed:
            return AgentKilled("the agent's guard ended it: we were paused for long, or its lease ran out")
        return AgentDied(f"the agent died (exit code {exit_code})", exit_code=exit_code)


def _handshake_in(answer: Answer) -> Handshake:
    if isinstance(answer, jsonrpc.ErrorResponse):
        raise AgentProtocolError(f"the agent answered initialize with error {answer.error_code}")
    return read_handshake(answer.result)
