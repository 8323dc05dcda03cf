"""Tasks that there are: list them, look one up or wait for it, cancel it."""

from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial

from flask import request
from werkzeug.wrappers import Response

from core.workspaces import Workspace, Workspaces
from jobs.errors import TaskFinished
from jobs.tasks import Task
from web.admission import require_admitted
from web.answers.tasks import TaskObject, TaskPage
from web.client_id import CLIENT_ID_HEADER
from web.paging import link_to_next
from web.preference import APPLIED_HEADER, PREFER_HEADER, wait_in
from web.problems import json_response, revalidated
from web.query import TasksQuery, parse_query
from web.relay import CLIENT_SOCKET
from web.route import Route, always
from web.selector import select
from web.task_place import ANY, PLACES, TaskPlace
from web.task_view import describe, describe_listed
from web.visible_tasks import VisibleTasks
from web.watch import TaskWatch


class TaskRoutes:
    """``…/memory/{remember,forget,dream,tasks}/:taskId`` and ``…/memory/tasks``."""

    def __init__(self, workspaces: Workspaces, tasks: VisibleTasks, *, watch: TaskWatch, home: str) -> None:
        """Bind the parts.

        Args:
            home: absolute path that results show as ``~``.
        """
        self._workspaces = workspaces
        self._tasks = tasks
        self._watch = watch
        self._home = home

    def routes(self) -> Iterable[Route]:
        """Declare the listing, and the routes of each place."""
        yield Route(
            name="list_tasks",
            method="GET",
            path=ANY.path,
            view=self.list_tasks,
            query=TasksQuery,
            reads=(CLIENT_ID_HEADER,),
            answer=TaskPage,
            sends=("Link", "ETag"),
        )
        for place in PLACES:
            yield from self._routes_at(place)

    def _routes_at(self, place: TaskPlace) -> Iterable[Route]:
        yield Route(
            name=f"find_{place.noun}",
            method="GET",
            path=f"{place.path}/<task_id>",
            view=partial(self.find, place),
            reads=(CLIENT_ID_HEADER, PREFER_HEADER),
            answer=TaskObject,
            sends=("ETag", APPLIED_HEADER),
            refusals=(place.not_found,),
        )
        yield Route(
            name=f"cancel_{place.noun}",
            method="POST",
            path=f"{place.path}/<task_id>/cancel",
            view=partial(self.cancel, place),
            audited=always,
            reads=(CLIENT_ID_HEADER,),
            status=202,
            answer=TaskObject,
            refusals=(place.not_found, TaskFinished),
        )

    def list_tasks(self, selector: str | None = None) -> Response:
        """List the tasks that the caller may see, newest first, a page at a time."""
        workspace = select(self._workspaces, selector)
        query = parse_query(TasksQuery, request.args)
        page = self._tasks.page(request, workspace, query)
        cursor = None if page.next_cursor is None else str(page.next_cursor)
        shown = TaskPage(tasks=[describe_listed(task) for task in page.tasks], next_cursor=cursor)
        return revalidated(shown.to_wire(), headers=link_to_next(request, cursor, limit=query.limit))

    def find(self, place: TaskPlace, task_id: str, selector: str | None = None) -> Response:
        """Look a task up; with ``Prefer: wait=N`` once it has ended, or is another than the caller knows."""
        workspace = select(self._workspaces, selector)

        def look() -> Task:
            return self._tasks.require(request, workspace, task_id, place=place)

        wait_s = wait_in(request.headers.get(PREFER_HEADER, ""))
        if wait_s is None or request.method == "HEAD":
            return self._shown(look())
        with self._watch.place() as has_place:
            return self._awaited(workspace, look, wait_s=wait_s) if has_place else self._shown(look())

    def cancel(self, place: TaskPlace, task_id: str, selector: str | None = None) -> Response:
        """Cancel a task: 202 with the task, which has ended if it never ran, and else is told to end."""
        workspace = select(self._workspaces, selector)
        task = self._tasks.cancel(request, workspace, task_id, place=place)
        return json_response(describe(task, home=self._home), status=202)

    def _awaited(self, workspace: Workspace, look: Callable[[], Task], *, wait_s: int) -> Response:
        task = look()
        client = request.environ.get(CLIENT_SOCKET)
        news = self._watch.news(
            workspace.id, task.id, wait_s=wait_s, with_place=_knows_a_state(), client=client
        )
        with closing(news):
            while not self._is_worth_telling(task) and next(news, False):
                require_admitted(request)
                task = look()
        response = self._shown(task)
        response.headers[APPLIED_HEADER] = f"wait={wait_s}"
        return response

    def _is_worth_telling(self, task: Task) -> bool:
        """Whether it is what the caller waits for: news to one who says what it knows, else the end."""
        if _knows_a_state():
            return self._shown(task).status_code != 304
        return task.is_terminal

    def _shown(self, task: Task) -> Response:
        return revalidated(describe(task, home=self._home))


def _knows_a_state() -> bool:
    """Whether the current request says what its caller knows."""
    return "If-None-Match" in request.headers
