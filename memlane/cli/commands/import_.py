"""`memlane import`."""

from typing import Annotated, Literal

import typer

from memlane.cli import options

_File = Annotated[str, typer.Argument(metavar="FILE", hidden=True)]
_Conflict = Annotated[
    Literal["fail", "skip", "replace"],
    typer.Option(help="What to do with a document that exists with other content."),
]


def import_(  # noqa: PLR0913 - one parameter for each option
    file: _File,
    *,
    conflict: _Conflict = "fail",
    wait: options.Wait = False,
    timeout: options.Timeout = None,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Bring the memories of an archive into a workspace.

    All of them come in one revision, or none. FILE is what `memlane export` made, or a .tar.gz or .zip
    like it; - reads from standard input.
    """
    wait_s = options.wait_limit_s(wait=wait, timeout=timeout)
    from memlane.cli.archives import read
    from memlane.cli.asking import run
    from memlane.cli.connection import place_of

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    archive = read(file)
    raise typer.Exit(
        run(
            lambda client: client.import_memory(archive, conflict=conflict, workspace=place.workspace),
            place,
            as_json=json,
            wait_s=wait_s,
        )
    )
