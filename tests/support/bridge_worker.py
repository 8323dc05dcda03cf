"""Stands in for a worker: a process that opens a bridge, has its child remember, and waits for that.

Started by ``command`` in the repository's root; its death or pause is the test's affair.
"""

import os
import sys

from acp_bridge.bridge import open_bridge
from acp_bridge.limits import Limits
from core import acp
from core.memory_calls import MemoryCall, RememberParams, RememberResult
from tests.support import fake_child


def command(workspace: str, behaviour: str, *, guard_ms: int, keep_fd: int) -> list[str]:
    """The command of a worker whose one child, in ``workspace``, behaves as named."""
    return [
        sys.executable,
        "-m",
        "tests.support.bridge_worker",
        workspace,
        behaviour,
        str(guard_ms),
        str(keep_fd),
    ]


def main(workspace: str, behaviour: str, guard_ms: str, keep_fd: str) -> None:
    child = fake_child.command(behaviour)
    bridge = open_bridge(
        command=child,
        own_command=child,
        environment=os.environ,
        idle_s=60,
        limits=Limits(guard_ms=int(guard_ms)),
        keep_fds=[int(keep_fd)],
    )
    params = RememberParams(content="a fact", cwd=workspace)
    bridge.run(
        workspace,
        MemoryCall(acp.REMEMBER, params, RememberResult),
        acp.TaskMeta(task_id="remember-1", lane_id="test/lane", fence=7),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
