"""What a benchmark hands back, as a table for people and as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Report:
    """One benchmark's findings.

    Attributes:
        notes: what a reader has to know, such as a peer that is not installed.
        raw: the single measurements behind the rows, for other programs.
        passed: False when something was found that must never be.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)
    passed: bool = True


def as_text(facts: Mapping[str, str], reports: Sequence[Report]) -> str:
    """Render the machine's facts and each report as a table."""
    head = "\n".join(f"{name}: {value}" for name, value in facts.items())
    return "\n\n".join([head, *(_text_of(report) for report in reports)]) + "\n"


def as_json(facts: Mapping[str, str], reports: Sequence[Report]) -> str:
    """Render all as one JSON document."""
    return json.dumps({"machine": facts, "reports": [asdict(report) for report in reports]}) + "\n"


def render_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns: the first one left, the others right."""
    lines = [columns, *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    rule = ["-" * width for width in widths]
    return "\n".join(_line(line, widths) for line in [columns, rule, *rows])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.rjust(width) if index else cell.ljust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()


def _text_of(report: Report) -> str:
    notes = "".join(f"\n* {note}" for note in report.notes)
    return f"{report.title}\n\n{render_table(report.columns, report.rows)}{notes}"
