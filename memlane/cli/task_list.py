"""The work of ``memlane tasks``."""

import sys
from dataclasses import dataclass

from core.ids import Kind
from memlane.cli.connection import Place, connected
from memlane.cli.exits import Exit
from memlane.cli.task_output import printable
from memlane.models import Outcome, Status, Task


@dataclass(frozen=True, slots=True)
class Choice:
    """Which tasks are asked for; None means any."""

    status: Status | None
    outcome: Outcome | None
    kind: Kind | None


def show_tasks(choice: Choice, place: Place, *, limit: int, as_json: bool) -> Exit:
    """Print tasks, newest first, one a line.

    Raises:
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
    """
    with connected(place) as client:
        page = client.task_page(
            status=choice.status,
            outcome=choice.outcome,
            kind=choice.kind,
            limit=limit,
            workspace=place.workspace,
        )
    sys.stdout.write(page.to_json() + "\n" if as_json else "".join(map(_told, page.tasks)))
    return Exit.OK


def _told(task: Task) -> str:
    when = task.created_at.astimezone().strftime("%Y-%m-%d %H:%M")
    state = task.outcome or task.status
    why = "" if task.error is None else f"  {task.error.code}"
    return printable(f"{task.task_id}  {when}  {state}{why}") + "\n"
