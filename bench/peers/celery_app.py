"""Celery; started by its own command line with `-A bench.peers.celery_app`."""

from collections.abc import Sequence

from celery import Celery

from bench.peers import target

app = Celery("bench", broker=f"redis+socket://{target.socket_path()}?virtual_host=1")
app.conf.update(
    task_ignore_result=True, worker_hijack_root_logger=False, broker_connection_retry_on_startup=True
)


@app.task(name="noop")
def noop(workspace: str, seq: int) -> None:
    """The task."""
    target.run(workspace, seq)


def send_all(jobs: Sequence[tuple[str, int]]) -> None:
    """Submit tasks."""
    for workspace, seq in jobs:
        noop.delay(workspace, seq)
