"""Tables as aligned columns of text."""

from collections.abc import Sequence

MAX_PADDED_CHARACTERS = 30


def column_text(rows: Sequence[Sequence[str]]) -> str:
    """Align cells below each other; the first row is the head.

    A cell that is longer than ``MAX_PADDED_CHARACTERS`` sticks out of its column rather than widening it.
    """
    widths = [min(max(map(len, column)), MAX_PADDED_CHARACTERS) for column in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    return "\n".join([*lines[:1], "-+-".join("-" * width for width in widths), *lines[1:]])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return " | ".join(cells).rstrip()
