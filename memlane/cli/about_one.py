"""Commands that ask for one thing about one task or revision, with the same options each."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from memlane.cli import options

if TYPE_CHECKING:
    from memlane.cli.exits import Exit
    from memlane.client import Client
    from memlane.models import Task

_Ask = Callable[["Client", str, str | None], "Task"]
_Show = Callable[..., "Exit"]


def about_one(
    metavar: str, ask: _Ask, *, text: str, show: Callable[[], _Show] | None = None
) -> Callable[..., None]:
    """Make a command.

    Args:
        metavar: what its one argument is called.
        ask: gets client, argument and workspace.
        text: its help.
        show: gives what shows the task at the end, see ``memlane.cli.asking.run``; called when it is needed.
    """

    def command(  # noqa: PLR0913 - one parameter for each option
        subject: Annotated[str, typer.Argument(metavar=metavar, hidden=True)],
        *,
        wait: options.Wait = False,
        timeout: options.Timeout = None,
        json: options.Json = False,
        workspace: options.Workspace = None,
        url: options.Url = None,
        token_file: options.TokenFile = None,
    ) -> None:
        wait_s = options.wait_limit_s(wait=wait, timeout=timeout)
        from memlane.cli.asking import run
        from memlane.cli.connection import place_of
        from memlane.cli.task_output import tell

        place = place_of(url=url, token_file=token_file, workspace=workspace)
        raise typer.Exit(
            run(
                lambda client: ask(client, subject, place.workspace),
                place,
                as_json=json,
                wait_s=wait_s,
                show=show() if show else tell,
            )
        )

    command.__doc__ = text
    return command
