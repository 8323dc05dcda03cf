"""taskiq on its list broker; started by its own command line with `bench.peers.taskiq_app:broker`."""

import asyncio
from collections.abc import Sequence

from taskiq_redis import ListQueueBroker

from bench.peers import target

broker = ListQueueBroker(target.url(), socket_timeout=None)  # its blocking pop outlasts redis-py's own 5 s


@broker.task(task_name="noop")
async def noop(workspace: str, seq: int) -> None:
    """The task."""
    target.run(workspace, seq)


def send_all(jobs: Sequence[tuple[str, int]]) -> None:
    """Submit tasks."""
    asyncio.run(_send_all(jobs))


async def _send_all(jobs: Sequence[tuple[str, int]]) -> None:
    await broker.startup()
    for workspace, seq in jobs:
        await noop.kiq(workspace, seq)
    await broker.shutdown()
