"""Tasks as far as who asks may see them."""

from collections.abc import Mapping
from typing import Final

from werkzeug.wrappers import Request

from core.ids import Kind
from core.workspaces import Workspace
from jobs.client import JobsClient
from jobs.store import TaskFilter, TaskPage
from jobs.tasks import Task
from web.client_id import Callers
from web.errors import Forbidden
from web.principal import TokenRole, principal_of
from web.query import TasksQuery
from web.task_place import TaskPlace

_ROLES: Final[Mapping[Kind, TokenRole]] = {
    "review": "operator"
}  # that a kind asks for, where not any will do


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
        task = self.require(request, workspace, task_id, place=place)
        if not principal_of(request).has_role(_ROLES.get(task.kind, "client")):
            raise Forbidden
        return task

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
        asked = self.require_to_act(request, workspace, task_id, place=place)
        task = self._jobs.cancel(workspace.id, asked.kind, asked.id, viewer=viewer)
        if task is None:
            raise place.not_found
        return task

    def page(self, request: Request, workspace: Workspace, query: TasksQuery) -> TaskPage:
        """List tasks, newest first, without their results."""
        viewer = self._callers.viewer_of(request, workspace)
        wanted = TaskFilter(kind=query.kind, statuses=query.statuses, viewer=viewer)
        return self._jobs.page(workspace.id, wanted, limit=query.limit, cursor=query.cursor)
