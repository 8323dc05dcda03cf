"""`memlane bench`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

_Name = Annotated[Literal["lanes", "latency", "recovery", "submit"], typer.Argument(help="What to measure.")]
_Rounds = Annotated[int | None, typer.Option(help="Rounds, of which the median is shown. [5]", min=1)]
_Tasks = Annotated[int | None, typer.Option(help="Tasks of one measurement (lanes, submit). [3000]", min=1)]
_Workspaces = Annotated[str | None, typer.Option(help="How many, by commas (lanes). [1,10,100,1000]")]
_Systems = Annotated[str | None, typer.Option(help="What to compare, by commas (lanes). [all]")]
_Peers = Annotated[Path | None, typer.Option(help="Python that has other queues (lanes).")]
_Fsync = Annotated[Literal["always", "everysec"] | None, typer.Option(help="Of Redis (lanes). [always]")]
_Count = Annotated[int | None, typer.Option(help="Tasks of each variant (latency). [200]", min=1)]
_WithDramatiq = Annotated[bool, typer.Option("--with-dramatiq", help="Minutes longer (recovery).")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def bench(  # noqa: PLR0913 - one parameter for each option
    name: _Name,
    *,
    rounds: _Rounds = None,
    tasks: _Tasks = None,
    workspaces: _Workspaces = None,
    systems: _Systems = None,
    peers: _Peers = None,
    fsync: _Fsync = None,
    count: _Count = None,
    with_dramatiq: _WithDramatiq = False,
    json: _Json = False,
) -> None:
    """Measure memlane against its alternatives on this machine; needs a checkout.

    Exits with 1 when a measurement shows what must never be.
    """
    from memlane.cli.bench import run

    values = {
        "--rounds": rounds,
        "--tasks": tasks,
        "--workspaces": workspaces,
        "--systems": systems,
        "--peers": None if peers is None else peers.absolute(),
        "--fsync": fsync,
        "--count": count,
    }
    given = [word for name, value in values.items() if value is not None for word in (name, str(value))]
    switches = [word for word, on in (("--with-dramatiq", with_dramatiq), ("--json", json)) if on]
    run([name, *given, *switches])
