"""What is looked at before a foreign child's task is begun, which nobody can run again."""

import asyncio

import pytest

from acp_bridge import direct_tasks
from acp_bridge.connection import Connection
from acp_bridge.errors import AgentUnavailable
from acp_bridge.limits import Limits
from acp_bridge.process import Launch
from core import acp
from core.memory_calls import MemoryCall, RememberParams, RememberResult


def test_a_foreign_child_that_is_dead_already_begins_no_task():
    launch = Launch(("/bin/false",), {}, Limits())
    call = MemoryCall(acp.REMEMBER, RememberParams(content="x", cwd="/w"), RememberResult)
    meta = acp.TaskMeta(task_id="remember-1", lane_id="d/w", fence=1)
    task = direct_tasks.DirectTask(call, meta, "/w", lambda: 0, 1.0, 1.0)

    async def run() -> None:
        # neither was started; asked for a snapshot, ours would say that it has died
        await direct_tasks.run(task, Connection(launch, "/w"), Connection(launch, "/w"))

    with pytest.raises(AgentUnavailable):
        asyncio.run(run())
