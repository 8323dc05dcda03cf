"""`memlane channel`."""

from pathlib import Path
from typing import Annotated

import typer

channel = typer.Typer(
    help="""Serve chat channels; chat at the terminal.

    The file of channels is MEMLANE_CHANNELS_FILE, else channels.json in MEMLANE_HOME.""",
    no_args_is_help=True,
    rich_markup_mode=None,
)
pairing = typer.Typer(
    help="""Let in who asks for it.

    For channels whose senderPolicy is pairing.""",
    no_args_is_help=True,
    rich_markup_mode=None,
)
channel.add_typer(pairing, name="pairing")

_Name = Annotated[str, typer.Argument(metavar="CHANNEL", show_default=False, help="A configured channel.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON, on one line.")]
_File = Annotated[
    Path | None, typer.Option("--channels-file", metavar="FILE", help="Another file than the configured one.")
]


@channel.command()
def run() -> None:
    """Serve all configured channels until SIGTERM."""
    from memlane.cli.channels_run import run as serve

    raise typer.Exit(serve())


@channel.command()
def check(*, json: _Json = False, channels_file: _File = None) -> None:
    """Tell all that is wrong with the configuration.

    Exit code 1 if anything is; warnings count.
    """
    from memlane.cli.channels_check import check_configuration

    raise typer.Exit(check_configuration(channels_file, as_json=json))


@channel.command()
def chat(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[CHANNEL]", show_default=False, help="As this channel is configured."),
    ] = None,
    *,
    channels_file: _File = None,
) -> None:
    """Chat with the agent at the terminal; ends with the input.

    It works in the first workspace, or where the channel does, and keeps nothing.
    """
    from memlane.cli.channels_chat import chat as talk

    raise typer.Exit(talk(name, channels_file))


@pairing.command("list")
def list_(name: _Name, *, json: _Json = False, channels_file: _File = None) -> None:
    """List who waits and who was let in."""
    from memlane.cli.channels_pairing import show

    raise typer.Exit(show(name, channels_file, as_json=json))


@pairing.command()
def approve(
    name: _Name,
    code: Annotated[
        str, typer.Argument(metavar="CODE", show_default=False, help="What the person was told.")
    ],
    *,
    channels_file: _File = None,
) -> None:
    """Let somebody in."""
    from memlane.cli.channels_pairing import approve as let_in

    raise typer.Exit(let_in(name, code, channels_file))


@pairing.command()
def revoke(
    name: _Name,
    sender_id: Annotated[
        str, typer.Argument(metavar="SENDER", show_default=False, help="An id, as list shows it.")
    ],
    *,
    channels_file: _File = None,
) -> None:
    """Let somebody in no more."""
    from memlane.cli.channels_pairing import revoke as shut_out

    raise typer.Exit(shut_out(name, sender_id, channels_file))
