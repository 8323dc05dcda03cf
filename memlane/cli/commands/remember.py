"""`memlane remember`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

_Text = Annotated[str, typer.Argument(help="What to remember; - reads it from standard input.")]
_Scope = Annotated[
    Literal["user", "project"] | None, typer.Option(help="Where it must go; the agent chooses otherwise.")
]
_Clean = Annotated[bool, typer.Option("--clean", help="Don't let the agent see what is known already.")]
_Wait = Annotated[bool, typer.Option("--wait", help="Wait for the end and show what was written.")]
_Timeout = Annotated[float, typer.Option(help="Longest wait, in seconds.", min=0)]
_Json = Annotated[bool, typer.Option("--json", help="Print the task as one JSON line.")]
_Workspace = Annotated[
    str | None, typer.Option(help="Id or absolute path of a served workspace; the primary otherwise.")
]
_Url = Annotated[
    str | None, typer.Option(help="Address of the service. [MEMLANE_URL, else http://127.0.0.1:4170]")
]
_TokenFile = Annotated[
    Path | None, typer.Option(help="File with the bearer token. [MEMLANE_TOKEN, else ~/.memlane/token]")
]


def remember(  # noqa: PLR0913 - one parameter for each option
    text: _Text,
    *,
    scope: _Scope = None,
    clean: _Clean = False,
    wait: _Wait = False,
    timeout: _Timeout = 310.0,
    json: _Json = False,
    workspace: _Workspace = None,
    url: _Url = None,
    token_file: _TokenFile = None,
) -> None:
    """Ask a running service to remember something."""
    from memlane.cli.remember import Request, run

    request = Request(text=text, scope=scope, context_mode="clean" if clean else None, workspace=workspace)
    raise typer.Exit(
        run(request, url=url, token_file=token_file, as_json=json, wait_s=timeout if wait else None)
    )
