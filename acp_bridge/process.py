"""One agent child process: how it starts, how it ends, what it leaves behind (nothing).

A child is an agent and the guard that started it (``acp_bridge.guard``), which leads a session and process
group of its own, so that whatever the agent starts ends with it. Seen from here the two are one process:
the guard ends as the agent ended. Its exit is watched apart from its pipes: a grandchild that holds a pipe
must not make a dead child look alive.
"""

import asyncio
import errno
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from acp_bridge.control_pipe import ControlPipe
from acp_bridge.errors import AgentUnavailable
from acp_bridge.guard import guarded, open_living
from acp_bridge.limits import Limits
from acp_bridge.stderr import StderrLines, read_record
from core import clock
from core.logs import get_logger

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_GROUP_POLL_S = 0.01

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Launch:
    """What it takes to start a child.

    Attributes:
        environment: the child's whole environment.
        keep_fds: descriptors that every process of the child inherits under their own numbers, > 2.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    limits: Limits
    keep_fds: tuple[int, ...] = ()


class ChildProcess(asyncio.SubprocessProtocol):
    """A child process and its process group, for use on one loop's thread.

    Until ``start`` has succeeded only ``kill`` and the properties may be used.

    Once ``wait_ended`` has returned, the child is reaped, the rest of its group is dead and the pipes are
    closed. Only a process that the kernel won't end within ``kill_s`` is left, with an error in the log.
    """

    def __init__(self, launch: Launch, workspace: str, *, on_output: Callable[[bytes], None]) -> None:
        """Prepare a child that runs in ``workspace``; its stdout goes to ``on_output`` in order."""
        self._launch = launch
        self._workspace = workspace
        self._on_output = on_output
        self._stderr = StderrLines()
        self._control = ControlPipe()
        self._transport: asyncio.SubprocessTransport | None = None
        loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[None] = loop.create_future()
        self._doomed: asyncio.Future[None] = loop.create_future()
        self._released: asyncio.Future[None] = loop.create_future()
        self._pipe_ends: dict[int, asyncio.Future[None]] = {
            _STDOUT: loop.create_future(),
            _STDERR: loop.create_future(),
        }
        self._ended: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the process.

        Raises:
            AgentUnavailable: the command can't be executed, or the workspace can't be entered.
        """
        try:
            self._require_program()
            transport = await self._spawn()
        except OSError as error:
            reason = self._obstacle(error)
            _log.warning("agent_not_started", program=self._launch.command[0], reason=reason)
            raise AgentUnavailable(f"the agent command could not be started: {reason}") from error
        self._transport = transport
        self._ended = asyncio.create_task(self._see_end(transport))
        if self._doomed.done():
            self._signal_group(signal.SIGKILL)

    @property
    def pid(self) -> int:
        """Process id of the child's guard, which is the group's id too; 0 before the start."""
        return (self._transport.get_pid() or 0) if self._transport else 0

    @property
    def running(self) -> bool:
        """Whether the process has started and not been seen to exit."""
        return self._transport is not None and not self._exited.done()

    @property
    def exit_code(self) -> int | None:
        """Exit code, minus the signal's number if a signal ended it; None while it isn't known."""
        return self._transport.get_returncode() if self._transport else None

    @property
    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines that the child wrote to stderr."""
        return self._stderr.tail

    @property
    def unsent_bytes(self) -> int:
        """How much of what was written the child has not taken yet."""
        return self._stdin().get_write_buffer_size()

    def write(self, frame: bytes) -> None:
        """Queue bytes for the child's stdin; dropped when the child has closed it."""
        if not self._stdin().is_closing():
            self._stdin().write(frame)

    def extend_to(self, deadline_ms: int) -> None:
        """Have the guard let the child live until this moment, in milliseconds since boot."""
        self._control.extend_to(deadline_ms)

    def kill(self) -> None:
        """Kill the process group at once, or as soon as it starts; ``wait_ended`` tells when it is gone."""
        if not self._doomed.done():
            self._doomed.set_result(None)
            self._signal_group(signal.SIGKILL)

    async def stop(self) -> None:
        """End the child: close its stdin, then SIGTERM, then SIGKILL, both to the whole group."""
        self._stdin().close()
        ended = self._ending()
        if not await self._ends_within_grace(ended):
            self._signal_group(signal.SIGTERM)
            if not await self._ends_within_grace(ended):
                self.kill()
        await self.wait_ended()

    async def wait_ended(self) -> None:
        """Wait until the child has ended and nothing of its group is left."""
        await asyncio.wait({self._ending()})

    def process_exited(self) -> None:
        """Take note of the exit, and end what the child left behind in its group."""
        self._signal_group(signal.SIGKILL)
        self._exited.set_result(None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport: output may arrive before ``start`` returns."""
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Hand stdout on, log stderr."""
        if fd == _STDOUT:
            self._on_output(data)
        else:
            self._log_stderr(self._stderr.feed(data))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Take note that the child closed a pipe."""
        if fd in self._pipe_ends:
            self._pipe_ends[fd].set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Take note that every descriptor is closed."""
        self._log_stderr(self._stderr.finish())
        self._released.set_result(None)

    def _obstacle(self, error: OSError) -> str:
        # the system says "no such file" and not which: program or folder
        if not Path(self._workspace).is_dir():
            return f"the workspace folder {self._workspace} is missing"
        return error.strerror or type(error).__name__

    def _require_program(self) -> None:
        # only the guard is started from here; what it can't start would look like an agent that died
        program = self._launch.command[0]
        place = str(Path(self._workspace, program)) if os.sep in program else program
        if shutil.which(place, path=self._launch.environment.get("PATH", os.defpath)) is None:
            raise FileNotFoundError(errno.ENOENT, "no such program")

    async def _spawn(self) -> asyncio.SubprocessTransport:
        first_deadline_ms = clock.boot_ms() + self._launch.limits.guard_ms
        guard_fd = self._control.open()
        try:
            transport, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *guarded(self._launch.command, control_fd=guard_fd, deadline_ms=first_deadline_ms),
                cwd=self._workspace,
                env=dict(self._launch.environment),
                start_new_session=True,
                pass_fds=(guard_fd, *self._launch.keep_fds),
            )
        except OSError:
            self._control.close()
            raise
        finally:
            os.close(guard_fd)
        return transport

    async def _see_end(self, transport: asyncio.SubprocessTransport) -> None:
        limits = self._launch.limits
        first_signs = {self._exited, self._doomed, self._pipe_ends[_STDOUT]}
        await asyncio.wait(first_signs, return_when=asyncio.FIRST_COMPLETED)
        # an answer may still be in the pipe of a child that exited, an exit code on its way from one
        # that closed its output
        await asyncio.wait({self._exited, *self._pipe_ends.values()}, timeout=limits.settle_s)
        if not self._exited.done():
            self._signal_group(signal.SIGKILL)
            await asyncio.wait({self._exited}, timeout=limits.kill_s)
        self._control.close()
        transport.close()
        await asyncio.wait({self._released}, timeout=limits.settle_s)
        if not self._exited.done() or not await self._group_ends():
            _log.error("agent_stuck", pid=self.pid)

    async def _group_ends(self) -> bool:
        # a guard that was killed says nothing about its agent, which may still be in the middle of a write
        deadline_ms = clock.boot_ms() + self._launch.limits.kill_s * 1000
        while self._group_lives():
            if clock.boot_ms() >= deadline_ms:
                return False
            await asyncio.sleep(_GROUP_POLL_S)
        return True

    def _group_lives(self) -> bool:
        try:
            os.killpg(self.pid, 0)  # no more than a quick look: it counts the dead that nobody has reaped
            living = open_living(self.pid)
        except ProcessLookupError:
            return False
        except OSError:
            return True  # as far as can be seen
        for pidfd in living:
            os.close(pidfd)
        return bool(living)

    async def _ends_within_grace(self, ended: asyncio.Task[None]) -> bool:
        done, _ = await asyncio.wait({ended}, timeout=self._launch.limits.stop_grace_s)
        return bool(done)

    def _ending(self) -> asyncio.Task[None]:
        # there is one, as nothing that needs it may be called before the start
        return cast("asyncio.Task[None]", self._ended)

    def _stdin(self) -> asyncio.WriteTransport:
        transport = cast("asyncio.SubprocessTransport", self._transport)
        return cast("asyncio.WriteTransport", transport.get_pipe_transport(_STDIN))

    def _signal_group(self, number: signal.Signals) -> None:
        # group 0 would be our own, and once its leader is reaped a group's number may be another's
        if self.pid and not self._exited.done():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def _log_stderr(self, lines: list[str]) -> None:
        for line in lines:
            record = read_record(line)
            getattr(_log, record.level)(record.event, process="agent", pid=self.pid, **record.facts)
