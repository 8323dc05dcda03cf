"""`memlane undo`."""

from typing import Annotated

import typer

from memlane.cli import options

_Revision = Annotated[str, typer.Argument(metavar="REVISION", hidden=True)]


def undo(  # noqa: PLR0913 - one parameter for each option
    revision: _Revision,
    *,
    wait: options.Wait = False,
    timeout: options.Timeout = None,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Have a revision of memory taken back.

    REVISION is r and a number, as `memlane history` shows it.
    """
    wait_s = options.wait_limit_s(wait=wait, timeout=timeout)
    from memlane.cli.asking import run
    from memlane.cli.connection import place_of

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    raise typer.Exit(
        run(
            lambda client: client.undo(revision, workspace=place.workspace),
            place,
            as_json=json,
            wait_s=wait_s,
        )
    )
