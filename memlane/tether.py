"""Run a command that ends with the process that started it.

Started by path as ``python -I -S tether.py PARENT_PID COMMAND [ARGUMENT ...]``, it asks the kernel for a
SIGTERM at the parent's death and then becomes the command. The request survives ``exec``, so it works for
programs that know nothing of us (a Redis server), and costs 15 ms. Linux only: prctl(2), PR_SET_PDEATHSIG.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1


def tethered(command: Sequence[str]) -> list[str]:
    """Wrap a command so that it gets SIGTERM when the calling thread ends, however it ends.

    Start the result from the main thread: the kernel watches the thread that forked, not the process.
    """
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def become(parent_pid: int, command: Sequence[str]) -> None:
    """Tie this process to its parent and turn it into ``command``; does not return.

    Raises:
        SystemExit: the parent is gone already, or the command can't be executed.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) != 0:
        raise SystemExit(f"prctl failed: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent_pid:  # it died before the request was in place
        raise SystemExit("the starting process is gone")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and exec would hand that on
    try:
        os.execv(command[0], list(command))  # noqa: S606 - becoming the command is the point
    except OSError as error:
        raise SystemExit(f"{command[0]}: {error.strerror}") from None


if __name__ == "__main__":
    become(int(sys.argv[1]), sys.argv[2:])
