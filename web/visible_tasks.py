"""Tasks as far as who asks may see them."""

from werkzeug.wrappers import Request

from core.workspaces import Workspace
from jobs.client import JobsClient
from jobs.store import TaskFilter, TaskPage
from jobs.tasks import Task
from web.client_id import Callers
from web.query import TasksQuery
from web.task_place import TaskPlace


class VisibleTasks:
    """Finds, lists and cancels tasks for the client that a request comes from.

    Every method raises ``InvalidClientId`` for a client that is not registered for the workspace, and
    ``StorageUnavailable`` when Redis gave no answer.
    """

    def __init__(self, jobs: JobsClient, callers: Callers) -> None:
        self._jobs = jobs
        self._callers = callers

    def require(self, request: Request, workspace: Workspace, task_id: str, *, place: TaskPlace) -> Task:
        """Look a task up.

        Args:
            place: where it is looked for.

        Raises:
            TaskNotFound: as the place has it.
        """
        viewer = self._callers.viewer_of(request, workspace)
        kind = place.kind_of(task_id)
        task = self._jobs.find(workspace.id, kind, task_id, viewer=viewer) if kind else None
        if task is None:
            raise place.not_found
        return task

    def cancel(self, request: Request, workspace: Workspace, task_id: str, *, place: TaskPlace) -> Task:
        """Cancel a task, and look it up.

        Args:
            place: where it is looked for.

        Raises:
            TaskNotFound: as the place has it.
            TaskFinished: it has ended.
        """
        viewer = self._callers.viewer_of(request, workspace)
        kind = place.kind_of(task_id)
        task = self._jobs.cancel(workspace.id, kind, task_id, viewer=viewer) if kind else None
        if task is None:
            raise place.not_found
        return task

    def page(self, request: Request, workspace: Workspace, query: TasksQuery) -> TaskPage:
        """List tasks, newest first, without their results."""
        viewer = self._callers.viewer_of(request, workspace)
        wanted = TaskFilter(kind=query.kind, statuses=query.statuses, viewer=viewer)
        return self._jobs.page(workspace.id, wanted, limit=query.limit, cursor=query.cursor)
