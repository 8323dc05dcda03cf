"""Cuts markdown into messages that a chat service takes, without breaking what is marked up."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^(?P<indent> {0,3})(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$")
# what must not be cut inside: links and images, code spans, emphasis
_MARKUP = re.compile(
    r"!?\[[^\]\n]*\]\([^)\n]*\)|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)|(?P<stars>\*{1,3})\S.*?\S(?P=stars)|~~.+?~~"
)

CountUnits = Callable[[str], int]


def utf16_units(text: str) -> int:
    """Length of text as some chat services count it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split_markdown(text: str, *, max_units: int, count_units: CountUnits = len) -> list[str]:
    """Cut text into parts of at most ``max_units``, at the best places that there are.

    Between paragraphs, else lines, else words, else anywhere; code blocks are closed at the end of a part and
    opened again in the next. Nothing but blanks at the cuts is lost.

    Args:
        max_units: >= 64.
        count_units: how the chat service counts.
    """
    parts: list[str] = []
    rest = _Rest(text.strip("\n"))
    while rest.text.strip():
        part, rest = _first_part(rest, max_units=max_units, count_units=count_units)
        if part.strip():
            parts.append(part)
    return parts


@dataclass(frozen=True, slots=True)
class _Rest:
    """What is still to be sent.

    Attributes:
        reopened: the line that opens the code block again in which it begins; empty outside of one.
    """

    text: str
    reopened: str = ""


def _first_part(rest: _Rest, *, max_units: int, count_units: CountUnits) -> tuple[str, _Rest]:
    opening = f"{rest.reopened}\n" if rest.reopened else ""
    if count_units(opening + rest.text) <= max_units:
        return opening + rest.text, _Rest("")
    room = max_units - count_units(opening)
    longest = _longest(rest.text, room, count_units)
    for end in _cuts(rest.text, longest):
        fence = _open_fence(opening + rest.text[:end])
        closing = f"\n{_mark_of(fence)}" if fence else ""
        part = opening + rest.text[:end].rstrip() + closing
        if count_units(part) <= max_units and (end > 0):
            return part, _Rest(_without_blanks(rest.text[end:], in_code=bool(fence)), fence)
    raise AssertionError("a cut in the middle of a word always fits")


def _longest(text: str, room: int, count_units: CountUnits) -> int:
    """How many characters fit."""
    low, high = 1, min(len(text), room)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_units(text[:middle]) <= room else (low, middle - 1)
    return low


def _cuts(text: str, longest: int) -> Iterator[int]:
    """Where to cut, the best place first, each tried until the part fits with what closes it."""
    head = text[:longest]
    floor = longest // 3  # a part that is much too short helps nobody
    kept = [match.span() for match in _MARKUP.finditer(text, 0, min(len(text), longest + 2000))]
    for separator in ("\n\n", "\n", " "):
        for end in _ends_of(head, separator):
            if end >= floor and not any(start < end < stop for start, stop in kept):
                yield end
    yield from (start for start, stop in reversed(kept) if floor <= start < longest < stop)
    yield from range(longest, 0, -1)


def _ends_of(text: str, separator: str) -> Iterator[int]:
    end = len(text)
    while (end := text.rfind(separator, 0, end)) > 0:
        yield end


def _open_fence(text: str) -> str:
    """The line that opened the code block in which the text ends; empty outside of one."""
    opened = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found is None:
            continue
        if not opened:
            opened = line
        elif not found["info"].strip() and found["mark"].startswith(_mark_of(opened)):
            opened = ""
    return opened


def _mark_of(opening: str) -> str:
    found = _FENCE.match(opening)
    return found["mark"] if found else ""


def _without_blanks(text: str, *, in_code: bool) -> str:
    """What follows a cut: outside of code it begins with no blank, inside its indent is kept."""
    return text.removeprefix("\n") if in_code else text.lstrip()
