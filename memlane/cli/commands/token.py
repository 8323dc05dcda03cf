"""`memlane token`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from memlane.cli import options

token = typer.Typer(
    help="""Make, list and revoke named tokens.

    The file of tokens is on this machine: MEMLANE_TOKENS_FILE, else tokens.json in MEMLANE_HOME. A running
    web notices each change by itself.""",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_Name = Annotated[
    str, typer.Argument(metavar="NAME", show_default=False, help="1 to 64 of A-Z a-z 0-9 . _ -")
]
_Role = Annotated[
    Literal["client", "operator"],
    typer.Option(help="operator is for reviews, lanes by hand, and the audit, too."),
]
_Workspaces = Annotated[
    list[str] | None,
    typer.Option(
        "--workspace",
        metavar="DIR|ID",
        help="Limit it to this one and the user's memory; may be repeated. [all]",
    ),
]
_Expires = Annotated[
    str | None, typer.Option(metavar="WHEN", help="From now, such as 90d or 12h, or a date. [never]")
]
_File = Annotated[
    Path | None, typer.Option("--tokens-file", metavar="FILE", help="Another file than the configured one.")
]


@token.command()
def new(  # noqa: PLR0913 - one parameter for each option
    name: _Name,
    *,
    role: _Role,
    workspace: _Workspaces = None,
    expires: _Expires = None,
    json: options.Json = False,
    tokens_file: _File = None,
) -> None:
    """Make a token and print it, once: the file keeps its digest only."""
    from memlane.cli.tokens import Grant, make

    grant = Grant(name, role, tuple(workspace or ()), expires)
    raise typer.Exit(make(grant, tokens_file, as_json=json))


@token.command("list")
def list_(*, json: options.Json = False, tokens_file: _File = None) -> None:
    """List the named tokens and what they are good for."""
    from memlane.cli.tokens import show

    raise typer.Exit(show(tokens_file, as_json=json))


@token.command()
def revoke(name: _Name, *, tokens_file: _File = None) -> None:
    """Make a token worthless from the next request on."""
    from memlane.cli.tokens import revoke as take_out

    raise typer.Exit(take_out(name, tokens_file))
