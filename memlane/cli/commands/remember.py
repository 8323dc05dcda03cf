"""`memlane remember`."""

from typing import Annotated, Literal

import typer

from memlane.cli import options

_Text = Annotated[str, typer.Argument(metavar="TEXT", hidden=True)]  # the help tells it better in a sentence
_Scope = Annotated[
    Literal["user", "project"] | None, typer.Option(help="Where it must go; the agent chooses otherwise.")
]
_Clean = Annotated[bool, typer.Option("--clean", help="Don't let the agent see what is known already.")]


def remember(  # noqa: PLR0913 - one parameter for each option
    text: _Text,
    *,
    scope: _Scope = None,
    clean: _Clean = False,
    wait: options.Wait = False,
    timeout: options.Timeout = None,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Ask a running service to remember something.

    TEXT goes in quotes; - reads it from standard input.
    """
    wait_s = options.wait_limit_s(wait=wait, timeout=timeout)
    from memlane.cli.connection import place_of
    from memlane.cli.remember import Request, run

    request = Request(text=text, scope=scope, context_mode="clean" if clean else None)
    place = place_of(url=url, token_file=token_file, workspace=workspace)
    raise typer.Exit(run(request, place, as_json=json, wait_s=wait_s))
