"""From a task that has ended to one that does the same once more."""

from dataclasses import replace

from core.ids import WorkspaceId
from jobs.client import JobsClient, Submitted
from jobs.errors import TaskNotFinished
from jobs.tasks import Submission, Task


def retry_task(jobs: JobsClient, workspace: WorkspaceId, ended: Task, *, asked: Submission) -> Submitted:
    """Have the request of an ended task run again, as a task of its own at the end of the lane.

    Args:
        ended: as it was found; however it ended.
        asked: who asks, by which request and idempotency key; the ended task decides the rest.

    Raises:
        TaskNotFinished: it has not ended.
        InputGone: its request is not kept any more.
        Errors as for ``JobsClient.accept``.
    """
    if not ended.is_terminal:
        raise TaskNotFinished("The task has not ended yet")
    submission = replace(
        asked,
        context_mode=ended.context_mode,
        scope=ended.scope,
        client_id=ended.client_id,  # whoever asks: who sees the task sees what became of it
        retry_of=ended.id,
    )
    return jobs.accept(workspace, submission)
