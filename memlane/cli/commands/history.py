"""`memlane history`."""

from typing import Annotated

import typer

from memlane.cli import options

_File = Annotated[str | None, typer.Argument(metavar="[FILE]", hidden=True)]


def history(  # noqa: PLR0913 - one parameter for each option
    file: _File = None,
    *,
    limit: options.Limit = 50,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Show who changed memory, newest first.

    FILE is a scope and a path, such as user/user/tea.md; without it all changes are shown.
    """
    from memlane.cli.connection import place_of
    from memlane.cli.revisions import show_history

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    raise typer.Exit(show_history(file, place, limit=limit, as_json=json))
