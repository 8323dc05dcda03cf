"""Tasks that are made from another one: the application of a preview, a retry."""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from flask import request
from werkzeug.wrappers import Response

from core.workspaces import Workspace, Workspaces
from jobs.client import JobsClient
from jobs.errors import InputGone, NoPreview, TaskNotFinished
from jobs.previews import apply_preview
from jobs.retries import retry_task
from jobs.tasks import Task
from memory.errors import PreviewStale, StoreUnusable
from memory.library import Library
from web.offload import offload
from web.reception import SUBMIT_REFUSALS, Reception, asking_route
from web.route import Route, always
from web.selector import select
from web.task_place import PLACES, TaskPlace
from web.visible_tasks import VisibleTasks


class FollowUpRoutes:
    """``…/:taskId/apply`` and ``…/:taskId/retry``."""

    def __init__(
        self,
        jobs: JobsClient,
        library: Library,
        workspaces: Workspaces,
        *,
        tasks: VisibleTasks,
        reception: Reception,
    ) -> None:
        self._jobs = jobs
        self._library = library
        self._workspaces = workspaces
        self._tasks = tasks
        self._reception = reception

    def routes(self) -> Iterable[Route]:
        """Declare the routes of each place; what has no preview is not applied."""
        for place in PLACES:
            yield asking_route(
                name=f"retry_{place.noun}",
                path=f"{place.path}/<task_id>/retry",
                view=partial(self.retry, place),
                audited=always,
                refusals=(*SUBMIT_REFUSALS, place.not_found, TaskNotFinished, InputGone),
            )
            if place.kind is not None:
                yield asking_route(
                    name=f"apply_{place.noun}",
                    path=f"{place.path}/<task_id>/apply",
                    view=partial(self.apply, place),
                    refusals=(*SUBMIT_REFUSALS, place.not_found, NoPreview, PreviewStale),
                )

    def apply(self, place: TaskPlace, task_id: str, selector: str | None = None) -> Response:
        """Queue the task that commits what a dry run showed."""
        workspace = select(self._workspaces, selector)
        preview = self._tasks.require(request, workspace, task_id, place=place)
        asked = self._reception.asked(request, workspace, preview.kind)
        submitted = apply_preview(
            self._jobs,
            workspace.id,
            preview,
            asked=asked,
            check=lambda: self._require_fresh(workspace, preview),
        )
        return self._reception.answer(submitted, asked, workspace=workspace, named=selector is not None)

    def retry(self, place: TaskPlace, task_id: str, selector: str | None = None) -> Response:
        """Queue a task that does once more what an ended one was asked for."""
        workspace = select(self._workspaces, selector)
        ended = self._tasks.require_to_act(request, workspace, task_id, place=place)
        asked = self._reception.asked(request, workspace, ended.kind)
        submitted = retry_task(self._jobs, workspace.id, ended, asked=asked)
        return self._reception.answer(submitted, asked, workspace=workspace, named=selector is not None)

    def _require_fresh(self, workspace: Workspace, preview: Task) -> None:
        """Refuse a preview that is known to be stale; a web that can't look leaves that to the task."""
        if not self._jobs.is_idle(workspace.id):
            return  # what memory is like when its turn comes is not known yet
        library = self._library
        with suppress(StoreUnusable):
            offload(lambda: library.foresight().require_applicable(preview.id, library.roots(workspace.path)))
