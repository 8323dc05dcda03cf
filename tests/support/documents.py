"""Reads the Markdown of docs/ as data, so that tests can hold it against the program."""

import re
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[2]
OPERATIONS = ROOT / "docs" / "operations.md"


def table_under(heading: str, *, page: Path = OPERATIONS) -> list[list[str]]:
    """Rows of the first table below a heading, without its two head rows."""
    lines = _section(heading, page)
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows = takewhile(lambda line: line.startswith("|"), lines[first:])
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows][2:]


def code_under(heading: str, language: str, *, page: Path = OPERATIONS) -> list[str]:
    """Code blocks of one language below a heading."""
    text = "\n".join(_section(heading, page))
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def quoted(cell: str) -> list[str]:
    """What stands between backticks."""
    return re.findall(r"`([^`]+)`", cell)


def heading_of_link(cell: str) -> str | None:
    """Heading that a link to the same page leads to, with its words' letters in lower case."""
    match = re.search(r"\(#([a-z-]+)\)", cell)
    return match[1].replace("-", " ") if match else None


def _section(heading: str, page: Path) -> list[str]:
    found: list[str] = []
    inside = in_code = False
    for line in page.read_text().splitlines():
        in_code ^= line.startswith("```")
        if line.startswith("#") and not in_code:
            inside = line.lstrip("# ").lower() == heading.lower()
        elif inside:
            found.append(line)
    assert found, f"{page.name} has no heading {heading!r}"
    return found
