"""Keep an agent child from outliving its worker, and from working on while its worker is paused.

Started by path as ``python -I -S guard.py CONTROL_FD DEADLINE_MS COMMAND [ARGUMENT ...]``, it leads the
process group in which it starts the agent, and waits for the first of:

- The agent's exit. It ends what is left of the group, then itself as the agent ended.
- The end of the control pipe, which only the worker can write to: the worker is dead.
- The deadline, as last told by a line ``until <ms>`` on that pipe: the worker is dead, paused or cut off.

In the last two cases, and if anything goes wrong here, the whole group is killed, itself last. It touches
no byte between worker and agent, and it costs 15 ms, so it imports little. Linux only: pidfd_open(2).
"""

import os
import resource
import select
import signal
import sys
import time

NOT_STARTED = 127  # the shell's word for a command that can't be executed

_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Python ignores SIGPIPE and SIGXFSZ; a shell that starts us in the background, SIGQUIT
_DEFAULT_IN_AGENT = (*_IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGQUIT)
_LONGEST_WAIT_MS = 1_000  # a poll does not count suspend, deadlines do
_KILL_LIMIT_MS = 2_000
_KILL_ROUND_MS = 100
_CONTROL_BYTES = 4_096


def guarded(command: tuple[str, ...], *, control_fd: int, deadline_ms: int) -> list[str]:
    """Wrap a command so that it runs under guard. Start the result as the leader of a new session.

    Args:
        control_fd: the read end of the control pipe, passed on to the guard under this number.
        deadline_ms: the first deadline, in milliseconds of ``core.clock.boot_ms``.
    """
    return [sys.executable, "-I", "-S", __file__, str(control_fd), str(deadline_ms), *command]


def until_line(deadline_ms: int) -> bytes:
    """What to write to the control pipe to set the deadline, in milliseconds of ``core.clock.boot_ms``.

    It is a moment, not a span: one that is read late must not give the agent more time.
    """
    return b"until %d\n" % deadline_ms


class Deadline:
    """Until when the agent may live, as the worker says over the control pipe."""

    def __init__(self, control_fd: int, deadline_ms: int) -> None:
        """Begin with a first deadline, in milliseconds since boot."""
        self.control_fd = control_fd
        self._deadline_ms = deadline_ms
        self._rest = b""

    @property
    def remaining_ms(self) -> int:
        """What is left; 0 when it has passed."""
        return max(0, self._deadline_ms - _boot_ms())

    def hear(self) -> bool:
        """Take in what was written, waiting for it.

        Returns:
            False when there is nobody to obey: all writers are gone, or one wrote something else than
            ``until_line`` makes.
        """
        chunk = os.read(self.control_fd, _CONTROL_BYTES)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        try:
            for line in lines:
                self._deadline_ms = int(line.removeprefix(b"until "))
        except ValueError:
            return False
        return chunk != b""


def open_living(group: int) -> list[int]:
    """Open a pidfd for each process of a group that is not dead, this process left out; close them.

    Raises:
        OSError: no descriptor is free, or there is no /proc.
    """
    # pathlib costs as much as all else here
    pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - see above
    members = [_open_member(pid, group) for pid in pids if pid != os.getpid()]
    return [pidfd for pidfd in members if pidfd is not None]


def guard(control_fd: int, deadline_ms: int, command: list[str]) -> None:
    """Run ``command`` under guard; does not return.

    Raises:
        SystemExit: this process does not lead its group, so that killing it could hit others; nothing
            was started.
    """
    if os.getpgrp() != os.getpid():
        raise SystemExit("the guard has to lead its process group")
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o077)  # memory that a foreign agent writes is for its user alone, as what ours writes
    agent_pid = _start(command, control_fd)
    try:
        _let_go_of_pipes()
        _offer_to_oom_killer(agent_pid)
        status = _wait_for_exit(agent_pid, Deadline(control_fd, deadline_ms))
        if _kill_others() and status is not None:
            _end_like_agent(os.waitstatus_to_exitcode(status))
    finally:
        os.kill(0, signal.SIGKILL)


def _start(command: list[str], control_fd: int) -> int:
    try:
        return os.posix_spawnp(
            command[0],
            command,
            _own_environment(),
            file_actions=[(os.POSIX_SPAWN_CLOSE, control_fd)],
            setsigdef=_DEFAULT_IN_AGENT,
            setsigmask=(),
        )
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode(errors="replace"))
        os._exit(NOT_STARTED)


def _own_environment() -> dict[bytes, bytes]:
    # not os.environ: to that, Python adds a locale of its own choice
    with open("/proc/self/environ", "rb") as block:  # noqa: PTH123 - see above
        pairs = [entry.partition(b"=") for entry in block.read().split(b"\0") if entry]
    return {name: value for name, _, value in pairs}


def _let_go_of_pipes() -> None:
    # else the worker would not see the agent close its output, nor the agent's end
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def _offer_to_oom_killer(agent_pid: int) -> None:
    """Have the kernel take the agent before the worker when memory runs out."""
    try:
        with open(f"/proc/{agent_pid}/oom_score_adj", "wb") as score:  # noqa: PTH123 - see above
            score.write(b"1000")
    except OSError:  # it is gone already, or not ours to offer
        return


def _wait_for_exit(agent_pid: int, deadline: Deadline) -> int | None:
    """The agent's wait status, or None when its time is up first."""
    agent = os.pidfd_open(agent_pid)
    poll = select.poll()
    poll.register(agent, select.POLLIN)
    poll.register(deadline.control_fd, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll(min(deadline.remaining_ms, _LONGEST_WAIT_MS))}
        if agent in ready:
            return os.waitpid(agent_pid, 0)[1]
        if deadline.control_fd in ready and not deadline.hear():
            return None
        if not deadline.remaining_ms:
            return None


def _kill_others() -> bool:
    """Kill the rest of the group and wait until it is dead; False if it doesn't die in time.

    One by one, as killing the group at once would take us as well: our exit code is the agent's, and
    whoever waits for a lock whose descriptor we hold may rely on our being the last.
    """
    deadline_ms = _boot_ms() + _KILL_LIMIT_MS
    while others := open_living(os.getpgrp()):
        if _boot_ms() >= deadline_ms:
            return False
        for pidfd in others:
            _kill(pidfd)
        round_end_ms = _boot_ms() + _KILL_ROUND_MS
        for pidfd in others:
            _has_exited(pidfd, wait_ms=max(0, round_end_ms - _boot_ms()))
            os.close(pidfd)
    return True


def _open_member(pid: int, group: int) -> int | None:
    try:
        # opened before it is asked, so that a number used again can't name somebody else's process
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    try:
        if os.getpgid(pid) == group and not _has_exited(pidfd, wait_ms=0):
            return pidfd
    except ProcessLookupError:
        pass
    os.close(pidfd)
    return None


def _kill(pidfd: int) -> None:
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    except OSError:  # reaped meanwhile, or set-user-id
        return


def _has_exited(pidfd: int, *, wait_ms: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(wait_ms))


def _end_like_agent(exit_code: int) -> None:
    """Exit with the agent's code, or by the signal that ended it."""
    if exit_code >= 0:
        os._exit(exit_code)
    number = -exit_code
    _forbid_core()
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)


def _forbid_core() -> None:
    # to the kernel, 1 means no core whether it would go to a file or to a program; 0 covers files only
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    allowed = 1 if most == resource.RLIM_INFINITY else min(1, most)
    resource.setrlimit(resource.RLIMIT_CORE, (allowed, most))


def _boot_ms() -> int:
    # core.clock's, which can't be imported here
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


if __name__ == "__main__":
    guard(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
