"""Options that several commands share, and what can be wrong with them."""

import math
from pathlib import Path
from typing import Annotated, Literal

import typer

DEFAULT_WAIT_S = 310.0  # covers the longest run of one task

Wait = Annotated[bool, typer.Option("--wait", help="Wait for the end and show what was done.")]
Timeout = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help=f"Longest wait, with --wait. [{DEFAULT_WAIT_S:g}]"),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON as the service gives it, on one line.")]
ScopeName = Literal["user", "project"]
Scope = Annotated[ScopeName | None, typer.Option(help="Which memory; the service chooses otherwise.")]
OnlyScope = Annotated[ScopeName | None, typer.Option("--scope", help="Only this memory. [all]")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Change nothing, show what would change; memlane apply does it.")
]
Limit = Annotated[int, typer.Option(metavar="NUMBER", min=1, max=200, help="How many at most.")]
Workspace = Annotated[
    str | None, typer.Option(metavar="DIR|ID", help="A served workspace; the primary one otherwise.")
]
Url = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Address of the service. [MEMLANE_URL, else http://127.0.0.1:4170]"),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File with the bearer token. [MEMLANE_TOKEN, else ~/.memlane/token]"),
]
Host = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Address to listen on. [MEMLANE_HOST, else 127.0.0.1]")
]
Port = Annotated[
    int | None,
    typer.Option(metavar="PORT", help="Port; 0 picks a free one. [MEMLANE_PORT, else 4170]"),
]


def wait_limit_s(*, wait: bool, timeout: float | None) -> float | None:
    """Longest wait in seconds; None when there is to be no wait.

    Raises:
        BadParameter: the two don't go together.
    """
    if timeout is None:
        return DEFAULT_WAIT_S if wait else None
    if not wait:
        raise typer.BadParameter("it needs --wait", param_hint="--timeout")
    if not math.isfinite(timeout) or timeout < 0:
        raise typer.BadParameter("must be 0 or more", param_hint="--timeout")
    return timeout


def check_port(port: int | None) -> None:
    """Refuse what is no port.

    Raises:
        BadParameter: it is none.
    """
    if port is not None and not 0 <= port <= 65_535:
        bound = "at most 65535" if port > 0 else "0 or more"
        raise typer.BadParameter(f"{port} must be {bound}", param_hint="--port")


def refuse_empty(**given: str | None) -> None:
    """Refuse options that were given without a value, such as an unset shell variable.

    Args:
        given: by the option's name, without dashes.

    Raises:
        BadParameter: names the first.
    """
    for name, value in given.items():
        if value is not None and not value.strip():
            raise typer.BadParameter("it is empty", param_hint=f"--{name.replace('_', '-')}")
