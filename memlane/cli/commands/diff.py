"""`memlane diff`."""

from typing import Annotated

import typer

from memlane.cli import options

_Revision = Annotated[str, typer.Argument(metavar="REVISION", hidden=True)]


def diff(
    revision: _Revision,
    *,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Show what a revision changed.

    REVISION is r and a number, as `memlane history` shows it.
    """
    from memlane.cli.connection import place_of
    from memlane.cli.revisions import show_diff

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    raise typer.Exit(show_diff(revision, place, as_json=json))
