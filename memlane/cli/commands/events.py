"""`memlane events`."""

from typing import Annotated

import typer

from memlane.cli import options

_After = Annotated[
    int | None,
    typer.Option(metavar="ID", min=0, help="Replay what came after this event; 0 replays all that is kept."),
]


def events(
    *,
    after: _After = None,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Show events of a running service as they come.

    Ctrl-C ends it. A connection that is lost is made again, and nothing is missed.
    """
    from memlane.cli.connection import place_of
    from memlane.cli.events import run

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    raise typer.Exit(run(place, after=after, as_json=json))
