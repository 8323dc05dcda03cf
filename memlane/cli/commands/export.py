"""`memlane export`."""

from typing import Annotated

import typer

from memlane.cli import options

_File = Annotated[str, typer.Argument(metavar="FILE", hidden=True)]


def export(
    file: _File,
    *,
    scope: options.OnlyScope = None,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Save all memories of a workspace in one archive.

    FILE ends in .tar.gz, .tgz or .zip and must not exist; - writes a tar.gz to standard output.
    """
    from memlane.cli.archives import format_of, save
    from memlane.cli.connection import place_of

    archive_format = format_of(file)
    if archive_format is None:
        raise typer.BadParameter("it must end in .tar.gz, .tgz or .zip", param_hint="FILE")
    place = place_of(url=url, token_file=token_file, workspace=workspace)
    raise typer.Exit(save(file, place, archive_format=archive_format, scope=scope))
