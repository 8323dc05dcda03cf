"""`memlane tasks`."""

from typing import Annotated, Literal

import typer

from core.ids import Kind
from memlane.cli import options

_Status = Annotated[
    Literal["queued", "running", "completed", "failed"] | None, typer.Option(help="Only tasks in this state.")
]
_Outcome = Annotated[
    Literal["completed", "failed", "cancelled"] | None, typer.Option(help="Only tasks that ended like this.")
]
_Kind = Annotated[Kind | None, typer.Option(help="Only tasks of this kind.")]


def tasks(  # noqa: PLR0913 - one parameter for each option
    *,
    status: _Status = None,
    outcome: _Outcome = None,
    kind: _Kind = None,
    limit: options.Limit = 50,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """List the tasks of a running service, newest first.

    A line is a task's id, when it was asked for, how it is or ended, and why it failed.
    `memlane get` shows what one did.
    """
    from memlane.cli.connection import place_of
    from memlane.cli.task_list import Choice, show_tasks

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    raise typer.Exit(show_tasks(Choice(status, outcome, kind), place, limit=limit, as_json=json))
