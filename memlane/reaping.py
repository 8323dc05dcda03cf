"""The end of a child process that was killed."""

import subprocess

from core.logs import get_logger

_REAP_LIMIT_S = 2.0

_log = get_logger(__name__)


def reap_killed(process: subprocess.Popen[bytes], *, name: str, limit_s: float = _REAP_LIMIT_S) -> int | None:
    """Collect the status of a process that SIGKILL was sent to.

    Args:
        limit_s: longest wait, seconds. A process that hangs in the kernel (a dead disk) outlives its SIGKILL.

    Returns:
        Its status; None if it has not ended, which is logged.
    """
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        _log.error("killed_process_lives_on", part=name, pid=process.pid)
        return None
