"""Tasks as far as who asks may see them."""

from collections.abc import Mapping
from typing import Final

from werkzeug.wrappers import Request

from core.ids import Kind
from core.workspaces import Workspace
from jobs.client import JobsClient
from jobs.store import TaskFilter, TaskPage
from jobs.tasks import Task
from jobs.viewer import Viewer
from web.client_id import Callers
from web.errors import Forbidden
from web.principal import TokenRole, principal_of
from web.query import TasksQuery
from web.task_place import TaskPlace

# that a kind asks for, where not any will do
_ROLES: Final[Mapping[Kind, TokenRole]] = {"review": "operator"}


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
        return self._require(viewer, workspace, task_id, place=place)

    def require_to_act(
        self, request: Request, workspace: Workspace, task_id: str, *, place: TaskPlace
    ) -> Task:
        """Look a task up that is to be called off, or done once more.

        Args:
            place: where it is looked for.

        Raises:
            TaskNotFound: as the place has it.
            Forbidden: who may not ask for tasks of this kind may see them only.
        """
        viewer = self._callers.viewer_of(request, workspace)
        return _acted_on(request, self._require(viewer, workspace, task_id, place=place))

    def cancel(self, request: Request, workspace: Workspace, task_id: str, *, place: TaskPlace) -> Task:
        """Cancel a task, and look it up.

        Args:
            place: where it is looked for.

        Raises:
            TaskNotFound: as the place has it.
            Forbidden: as for ``require_to_act``.
            TaskFinished: it has ended.
        """
        viewer = self._callers.viewer_of(request, workspace)
        asked = _acted_on(request, self._require(viewer, workspace, task_id, place=place))
        task = self._jobs.cancel(workspace.id, asked.kind, asked.id, viewer=viewer)
        if task is None:
            raise place.not_found
        return task

    def page(self, request: Request, workspace: Workspace, query: TasksQuery) -> TaskPage:
        """List tasks, newest first, without their results."""
        viewer = self._callers.viewer_of(request, workspace)
        wanted = TaskFilter(kind=query.kind, statuses=query.statuses, viewer=viewer)
        return self._jobs.page(workspace.id, wanted, limit=query.limit, cursor=query.cursor)

    def _require(self, viewer: Viewer, workspace: Workspace, task_id: str, *, place: TaskPlace) -> Task:
        kind = place.kind_of(task_id)
        task = self._jobs.find(workspace.id, kind, task_id, viewer=viewer) if kind else None
        if task is None:
            raise place.not_found
        return task


def _acted_on(request: Request, task: Task) -> Task:
    """The task, if the request's token may ask for tasks of its kind."""
    if not principal_of(request).has_role(_ROLES.get(task.kind, "client")):
        raise Forbidden
    return task
