"""What docstrings say, for descriptions made of them."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

_SECTION = re.compile(r"^(?:Args|Attributes|Returns|Raises|Yields):$", re.MULTILINE)
_FIELD = re.compile(r"^    (?P<names>\w+(?:, \w+)*): (?P<text>.*(?:\n        .*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring in Google's style, taken apart.

    Attributes:
        summary: its first line.
        text: what comes before the first section, the summary included.
        attributes: what it says of each attribute, by name.
    """

    summary: str
    text: str
    attributes: Mapping[str, str]


def docstring_of(documented: object) -> Docstring:
    """Read the docstring of a class or function; one that has none says nothing.

    A partial has the words of its function.
    """
    function = documented.func if isinstance(documented, partial) else documented
    return parse_docstring(getattr(function, "__doc__", None) or "")


def parse_docstring(raw: str) -> Docstring:
    """Take a docstring apart; sections other than ``Attributes`` are dropped."""
    doc = inspect.cleandoc(raw)
    text = _SECTION.split(doc, maxsplit=1)[0].strip()
    return Docstring(text.partition("\n")[0], text, _attributes(doc))


def _attributes(doc: str) -> dict[str, str]:
    _, _, rest = doc.partition("Attributes:\n")
    section = _SECTION.split(rest, maxsplit=1)[0]
    return {
        name: " ".join(field["text"].split())
        for field in _FIELD.finditer(section)
        for name in field["names"].split(", ")
    }
