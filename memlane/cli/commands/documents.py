"""`memlane documents`."""

from typing import Annotated

import typer

from memlane.cli import options

_File = Annotated[str | None, typer.Argument(metavar="[FILE]", hidden=True)]


def documents(  # noqa: PLR0913 - one parameter for each option
    file: _File = None,
    *,
    scope: options.OnlyScope = None,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """List what memory holds, or show one document.

    FILE is a scope and a path, such as user/user/tea.md; without it all documents are listed.
    """
    from memlane.cli.connection import place_of
    from memlane.cli.reading import list_documents, show_document

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    if file is None:
        raise typer.Exit(list_documents(place, scope=scope, as_json=json))
    raise typer.Exit(show_document(file, place, as_json=json))
