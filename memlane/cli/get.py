"""The work of ``memlane get``."""

from memlane.cli.connection import Place, connected
from memlane.cli.exits import Exit
from memlane.cli.task_output import follow, tell


def run(task_id: str, place: Place, *, as_json: bool, wait_s: float | None) -> Exit:
    """Look a task up, and with ``wait_s`` wait for its end.

    Raises:
        NotFound: unknown, expired, of another workspace, or of another client.
        MemlaneApiError: another refusal.
        Unreachable: the service gave no answer.
        WaitTimeout: the task has not ended within ``wait_s``.
        ConfigError: the token or the URL can't be used.
    """
    with connected(place) as client:
        task = client.get(task_id, workspace=place.workspace)
        if wait_s is not None and not task.finished:
            task = follow(client, task, wait_s)
    return tell(task, as_json=as_json)
