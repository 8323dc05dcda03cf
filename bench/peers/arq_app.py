"""arq with a poll of 50 ms; started by its own command line with `bench.peers.arq_app.Worker`."""

import asyncio
from collections.abc import Sequence
from typing import Any

from arq import create_pool
from arq.connections import RedisSettings

from bench.peers import target

SETTINGS = RedisSettings(unix_socket_path=target.socket_path(), database=1)


async def noop(_context: Any, workspace: str, seq: int) -> None:
    """The task."""
    target.run(workspace, seq)


class Worker:
    """What arq's command line reads."""

    functions = (noop,)
    redis_settings = SETTINGS
    poll_delay = 0.05
    max_jobs = 4
    keep_result = 0


def send_all(jobs: Sequence[tuple[str, int]]) -> None:
    """Submit tasks."""
    asyncio.run(_send_all(jobs))


async def _send_all(jobs: Sequence[tuple[str, int]]) -> None:
    pool = await create_pool(SETTINGS)
    for workspace, seq in jobs:
        await pool.enqueue_job("noop", workspace, seq)
    await pool.aclose()
