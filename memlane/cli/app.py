"""The command line as people see it: commands, options, help."""

import importlib
import keyword
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from core.version import own_version
from memlane.cli.exits import Exit
from memlane.cli.hints import hint_for

_COMMANDS = (
    *("up", "remember", "forget", "dream", "apply", "undo", "history", "diff", "review"),
    *("documents", "search", "export", "import", "tasks", "get", "retry", "cancel", "events"),
    *("doctor", "token", "ops", "channel", "web", "worker", "agent", "bench"),
)
_CONTEXT = {"help_option_names": ["-h", "--help"]}
_HELP = """Managed memory for AI coding agents, as a service.

`memlane up` starts all of it on this machine; `memlane remember` asks a running service.

Exit codes: 0 done, or stopped as asked; 1 the task failed or has not ended in time, or `memlane doctor`
found something; 2 wrong usage or configuration; 3 the service or what it needs can't be reached, or
can't take more now; 130 interrupted.
"""


def run_app(arguments: Sequence[str]) -> NoReturn:
    """Run the command that the arguments name.

    Raises:
        SystemExit: with the exit code, unless there is an error to tell.
        MemlaneError: what the command met.
    """
    try:
        code = build_app(arguments[:1])(args=list(arguments), prog_name="memlane")
    except SystemExit as end:
        if end.code == Exit.USAGE:
            sys.stderr.write(hint_for(arguments))
        raise
    raise SystemExit(code)


def build_app(wanted: Sequence[str] = ()) -> typer.Typer:
    """Make the app.

    Args:
        wanted: a single known command builds that one only, without loading the others.
    """
    app = typer.Typer(
        help=_HELP,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings=_CONTEXT,
    )
    app.callback()(_common)
    for name in wanted if wanted and wanted[0] in _COMMANDS else _COMMANDS:
        spelt = f"{name}_" if keyword.iskeyword(name) else name
        module = importlib.import_module(f"memlane.cli.commands.{spelt}")
        command = getattr(module, spelt)
        if isinstance(command, typer.Typer):  # a group of commands
            app.add_typer(command, name=name, context_settings=_CONTEXT)
        else:
            app.command(name, context_settings=_CONTEXT)(command)
    return app


def _tell_version(wanted: bool) -> None:  # noqa: FBT001 - typer's shape
    if wanted:
        sys.stdout.write(f"memlane {own_version()}\n")
        raise typer.Exit


def _common(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass
