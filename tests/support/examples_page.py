"""docs/http-examples.md, taken apart: commands, their answers, what later commands take from those."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "http-examples.md"
PRELUDE = 'AUTH="Authorization: Bearer $MEMLANE_TOKEN"'

_EXAMPLE = re.compile(r"```sh\n(curl .*?)\n```\n→ (\d{3})([^\n]*)", re.DOTALL)
_TAKES = re.compile(r"`\$(?P<name>\w+)` is `(?P<place>[\w.\[\]]+)`")
_URL = re.compile(r'"\$MEMLANE_URL(?P<path>[^"?]*)')
_METHOD = re.compile(r"-X (?P<method>[A-Z]+)")


@dataclass(frozen=True)
class Example:
    """One command of the page.

    Attributes:
        takes: by name of the variable: where in the answer its value stands.
    """

    command: str
    status: int
    takes: Mapping[str, str]

    @property
    def method(self) -> str:
        named = _METHOD.search(self.command)
        if named:
            return named["method"]
        return "POST" if " -d " in self.command or "--data" in self.command else "GET"

    @property
    def path(self) -> str:
        found = _URL.search(self.command)
        assert found is not None, self.command
        return found["path"]

    def taken_from(self, body: str) -> dict[str, str]:
        """The variables that later commands have from an answer."""
        answer = json.loads(body) if self.takes else None
        return {name: str(_at(answer, place)) for name, place in self.takes.items()}


def read_examples() -> list[Example]:
    """The commands of the page, in their order."""
    return [
        Example(command, int(status), dict(_TAKES.findall(takes)))
        for command, status, takes in _EXAMPLE.findall(PAGE.read_text("utf-8"))
    ]


def _at(answer: Any, place: str) -> Any:
    for name in re.findall(r"\w+", place):
        answer = answer[int(name) if name.isdigit() else name]
    return answer
