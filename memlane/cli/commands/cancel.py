"""`memlane cancel`."""

from typing import TYPE_CHECKING

from memlane.cli.about_one import about_one

if TYPE_CHECKING:
    from collections.abc import Callable

    from memlane.cli.exits import Exit


def _show() -> "Callable[..., Exit]":
    from memlane.cli.task_output import tell_cancelled

    return tell_cancelled


cancel = about_one(
    "TASK_ID",
    lambda client, task_id, workspace: client.cancel(task_id, workspace=workspace),
    text="""Have a task cancelled, queued or running.

    TASK_ID is what the command that asked for it printed. A task that has committed by then completes.
    """,
    show=_show,
)
