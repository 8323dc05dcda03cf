"""The command line as people see it: commands, options, help."""

import importlib
from collections.abc import Sequence
from typing import NoReturn

import typer

_COMMANDS = ("up", "remember", "web", "worker", "agent")
_HELP = """Managed memory for AI coding agents, as a service.

`memlane up` starts all of it on this machine; `memlane remember` asks a running service.

Exit codes: 0 done, 1 the task failed or has not ended in time, 2 wrong usage or configuration,
3 the service or what it needs can't be reached, 130 interrupted.
"""


def run_app(arguments: Sequence[str]) -> NoReturn:
    """Run the command that the arguments name.

    Raises:
        SystemExit: with the exit code, unless there is an error to tell.
        MemlaneError: what the command met.
    """
    raise SystemExit(build_app(arguments[:1])(args=list(arguments), prog_name="memlane"))


def build_app(wanted: Sequence[str] = ()) -> typer.Typer:
    """Make the app.

    Args:
        wanted: a single known command builds that one only, without loading the others.
    """
    app = typer.Typer(help=_HELP, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.callback()(_common)
    for name in wanted if wanted and wanted[0] in _COMMANDS else _COMMANDS:
        module = importlib.import_module(f"memlane.cli.commands.{name}")
        app.command(name)(getattr(module, name))
    return app


def _common() -> None:
    pass
