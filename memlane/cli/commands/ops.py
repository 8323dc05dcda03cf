"""`memlane ops`."""

from collections.abc import Callable
from typing import Annotated

import typer

from memlane.cli import options

ops = typer.Typer(
    help="""See lanes, workers, channels and the audit; hold lanes.

    It asks a running service. The token needs the role operator; the owner's has it.""",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_Workspace = Annotated[str, typer.Argument(metavar="DIR|ID", show_default=False, help="A served workspace.")]
_Refused = Annotated[bool, typer.Option("--refused", help="Who was refused, in place of what was done.")]
_Limit = Annotated[int, typer.Option(metavar="NUMBER", min=1, help="How many at most.")]


@ops.command()
def lanes(
    *, json: options.Json = False, url: options.Url = None, token_file: options.TokenFile = None
) -> None:
    """Show how the lanes stand."""
    from memlane.cli.connection import place_of
    from memlane.cli.ops import show_lanes

    raise typer.Exit(show_lanes(place_of(url=url, token_file=token_file, workspace=None), as_json=json))


@ops.command()
def workers(
    *, json: options.Json = False, url: options.Url = None, token_file: options.TokenFile = None
) -> None:
    """Show the workers that live."""
    from memlane.cli.connection import place_of
    from memlane.cli.ops import show_workers

    raise typer.Exit(show_workers(place_of(url=url, token_file=token_file, workspace=None), as_json=json))


@ops.command()
def channels(
    *, json: options.Json = False, url: options.Url = None, token_file: options.TokenFile = None
) -> None:
    """Show how the chat channels stand: whether they are served, and hear what is written."""
    from memlane.cli.connection import place_of
    from memlane.cli.ops import show_channels

    raise typer.Exit(show_channels(place_of(url=url, token_file=token_file, workspace=None), as_json=json))


def _setting(*, is_held: bool, text: str) -> Callable[..., None]:
    """Make a command that holds a lane, or lets it go."""

    def command(
        workspace: _Workspace,
        *,
        json: options.Json = False,
        url: options.Url = None,
        token_file: options.TokenFile = None,
    ) -> None:
        from memlane.cli.connection import place_of
        from memlane.cli.ops import set_held

        place = place_of(url=url, token_file=token_file, workspace=workspace)
        raise typer.Exit(set_held(place, is_held=is_held, as_json=json))

    command.__doc__ = text
    return command


ops.command("hold")(
    _setting(
        is_held=True, text="Let a lane start no further task; what runs goes on, and tasks are accepted."
    )
)
ops.command("unhold")(_setting(is_held=False, text="Let a lane go on."))


@ops.command()
def audit(
    *,
    refused: _Refused = False,
    limit: _Limit = 50,
    json: options.Json = False,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Show who did what, newest first."""
    from memlane.cli.connection import place_of
    from memlane.cli.ops import show_audit

    place = place_of(url=url, token_file=token_file, workspace=None)
    raise typer.Exit(show_audit("refused" if refused else "done", place, limit=limit, as_json=json))
