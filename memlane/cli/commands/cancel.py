"""`memlane cancel`."""

from typing import Annotated

import typer

from memlane.cli import options

_TaskId = Annotated[str, typer.Argument(metavar="TASK_ID", hidden=True)]


def cancel(  # noqa: PLR0913 - one parameter for each option
    task_id: _TaskId,
    *,
    wait: options.Wait = False,
    timeout: options.Timeout = None,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Have a task cancelled, queued or running.

    TASK_ID is what the command that asked for it printed. A task that has committed by then completes.
    """
    wait_s = options.wait_limit_s(wait=wait, timeout=timeout)
    from memlane.cli.asking import run
    from memlane.cli.connection import place_of
    from memlane.cli.task_output import tell_cancelled

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    raise typer.Exit(
        run(
            lambda client: client.cancel(task_id, workspace=place.workspace),
            place,
            as_json=json,
            wait_s=wait_s,
            show=tell_cancelled,
        )
    )
