"""`memlane search`."""

from typing import Annotated

import typer

from memlane.cli import options

_Words = Annotated[str, typer.Argument(metavar="WORDS", hidden=True)]
_Limit = Annotated[int, typer.Option(metavar="NUMBER", min=1, max=100, help="How many at most.")]


def search(  # noqa: PLR0913 - one parameter for each option
    words: _Words,
    *,
    scope: options.OnlyScope = None,
    limit: _Limit = 20,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Find documents that hold these words, best first.

    WORDS go in quotes when they are several. `memlane documents FILE` shows one that was found.
    """
    from memlane.cli import reading
    from memlane.cli.connection import place_of

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    raise typer.Exit(reading.search(words, place, scope=scope, limit=limit, as_json=json))
