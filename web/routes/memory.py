"""What agents and people ask of a workspace's memory: remember, forget, dream."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from flask import g, request
from werkzeug.wrappers import Response

from core.ids import Kind
from core.workspaces import Workspaces
from web.reception import SUBMIT_REFUSALS, Reception, asking_route
from web.route import Route
from web.schemas import DreamBody, ForgetBody, RememberBody, TaskBody, parse_body
from web.selector import select
from web.task_place import place_of

_BODIES: Final[tuple[tuple[Kind, type[TaskBody]], ...]] = (
    ("remember", RememberBody),
    ("forget", ForgetBody),
    ("dream", DreamBody),
)


def _purges(body: Mapping[str, Any]) -> bool:
    return body.get("purge") is True


class MemoryRoutes:
    """``…/memory/{remember,forget,dream}``."""

    def __init__(self, workspaces: Workspaces, reception: Reception) -> None:
        self._workspaces = workspaces
        self._reception = reception

    def routes(self) -> Iterable[Route]:
        """Declare the route of each kind."""
        for kind, body in _BODIES:
            yield asking_route(
                name=kind,
                path=place_of(kind).path,
                view=partial(self.submit, kind, body),
                audited=_purges,
                body=body,
                refusals=SUBMIT_REFUSALS,
            )

    def submit(self, kind: Kind, body: type[TaskBody], selector: str | None = None) -> Response:
        """Queue a task."""
        workspace = select(self._workspaces, selector)
        parsed = parse_body(body, g.body)
        submission = replace(
            self._reception.asked(request, workspace, kind),
            input=parsed.to_input(),
            context_mode=parsed.mode,
            scope=parsed.scope,
        )
        return self._reception.submit(submission, workspace, named=selector is not None)
