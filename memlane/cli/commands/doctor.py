"""`memlane doctor`."""

from pathlib import Path
from typing import Annotated

import typer

_Workspace = Annotated[Path | None, typer.Argument(metavar="WORKSPACE", hidden=True)]
_Fix = Annotated[bool, typer.Option("--fix", help="Mend what needs no judgement, then look again.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the findings as JSON, on one line.")]


def doctor(*, workspace: _Workspace = None, fix: _Fix = False, json: _Json = False) -> None:
    """Find what is wrong with the memory on this machine.

    It says how to mend it. With a WORKSPACE it looks only at its memory and the user's, else at all of the
    memory base and at the file of named tokens. No service has to run.

    Exit code 1 means that something was found, and with --fix that something is left.
    """
    from memlane.cli.doctor import run

    raise typer.Exit(run(workspace, fix=fix, as_json=json))
