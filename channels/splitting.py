"""Cuts markdown into messages that a chat service takes, without breaking what is marked up."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from channels.markup import CodeBlock, Span, code_blocks, kept_spans

CountUnits = Callable[[str], int]
"""Measures text; at least 1 for each character."""

_BLANKS = re.compile(r"\s*+")
_BLANK_LINES = re.compile(r"(?:[^\S\n]*+\n)*+")


def utf16_units(text: str) -> int:
    """Length of text as some chat services count it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split_markdown(text: str, *, max_units: int, count_units: CountUnits = len) -> list[str]:
    """Cut text into parts of at most ``max_units``, at the best places that there are.

    Between paragraphs, else lines, else words, else anywhere, and not inside of what is marked up or of a
    table's row, unless that alone is too long. Code blocks are closed at the end of a part and opened again
    in the next, there outside of any list. Nothing but blanks at the cuts, and of code in a list its indent,
    is lost.

    Args:
        max_units: >= 64.
        count_units: how the chat service counts.
    """
    text = text.rstrip()
    limit = _Limit(max_units, count_units)
    blocks = code_blocks(text)
    source = _Source(
        text=text,
        blocks=[block for block in blocks if _can_reopen(block, text, limit)],
        kept=kept_spans(text, blocks),
    )
    parts = []
    start = _end_of(_BLANK_LINES, text, 0)
    while start < len(source.text):
        end = _end_of_part(source, start, limit)
        parts.append(source.part(start, end))
        start = source.next_start(end)
    return [part for part in parts if part.strip()]


@dataclass(frozen=True, slots=True)
class _Limit:
    """How long a part may be."""

    units: int
    count_units: CountUnits

    def takes(self, text: str, *, share: int = 1) -> bool:
        """Whether text takes no more than one of ``share`` equal shares of a part."""
        return self.count_units(text) * share <= self.units


def _can_reopen(block: CodeBlock, text: str, limit: _Limit) -> bool:
    """Whether there is code in a block, and its fences leave room for some of it in each part."""
    has_code = bool(text[block.body_start : block.body_end].strip())
    return has_code and limit.takes(text[block.start : block.body_start], share=4)


@dataclass(frozen=True, slots=True)
class _Source:
    """What is to be sent.

    Attributes:
        blocks: code blocks that are cut as such.
        kept: what is not cut inside if that can be helped.
    """

    text: str
    blocks: Sequence[CodeBlock]
    kept: Sequence[Span]

    def block_at(self, position: int) -> CodeBlock | None:
        """The code block around a position."""
        index = bisect_left(self.blocks, position, key=lambda block: block.start) - 1
        return self.blocks[index] if index >= 0 and position < self.blocks[index].end else None

    def is_kept_at(self, position: int) -> bool:
        """Whether a cut would be inside of what belongs together."""
        index = bisect_left(self.kept, (position, 0)) - 1
        return index >= 0 and position < self.kept[index][1]

    def places_of(self, separator: str, start: int, end: int) -> list[int]:
        """Where a separator begins behind ``start`` and not behind ``end``, the last one first."""
        found = re.finditer(re.escape(separator), self.text[start : end + len(separator)])
        return [start + one.start() for one in found if one.start()][::-1]

    def kept_from(self, start: int, end: int) -> Iterator[int]:
        """Where, between two positions, something begins that belongs together."""
        first, last = (bisect_left(self.kept, (place, 0)) for place in (start + 1, end))
        return (place for place, _ in self.kept[first:last])

    def can_end_at(self, position: int) -> bool:
        """Whether a part may end there, not on a fence's line or before the first line of code."""
        block = self.block_at(position)
        return block is None or block.body_start < position <= block.body_end

    def opening_at(self, position: int) -> str:
        """What opens the code block again in which a part begins."""
        block = self.block_at(position)
        return f"{block.opening}\n" if block is not None else ""

    def part(self, start: int, end: int) -> str:
        """A stretch as it is sent, with the fences that it lacks."""
        first, last = self._block_begun(start), self.block_at(end)
        shown = self._reopened(first, start, end) if first is not None else self.text[start:end]
        if last is None:
            return shown.rstrip()
        indent = 0 if last is first else last.indent
        return f"{shown.rstrip()}\n{' ' * indent}{last.mark}"

    def _block_begun(self, start: int) -> CodeBlock | None:
        """The block that is taken out of its list when a part begins in it, or with it."""
        block = self.block_at(start + 1)
        is_as_it_was = block is not None and start == block.start and (block.is_item or not block.indent)
        return None if is_as_it_was else block

    def _reopened(self, block: CodeBlock, start: int, end: int) -> str:
        code = self.text[max(start, block.body_start) : min(end, block.body_end)]
        if block.indent:
            code = re.sub(rf"^[ \t]{{1,{block.indent}}}", "", code, flags=re.MULTILINE)
        is_whole = end >= block.end > block.body_end
        return f"{block.opening}\n{code}" + (
            f"\n{block.mark}{self.text[block.end : end]}" if is_whole else ""
        )

    def next_start(self, end: int) -> int:
        """Where the part begins that follows one; blanks that indent code stay."""
        block = self.block_at(end)
        if block is None:
            return _end_of(_BLANKS, self.text, end)
        follows = end + self.text.startswith("\n", end)
        if _end_of(_BLANKS, self.text, follows) < block.body_end:
            return follows
        return _end_of(_BLANKS, self.text, block.end)


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Where ends what a pattern, which also matches nothing, finds at a place."""
    found = pattern.match(text, start)
    return found.end() if found is not None else start


def _end_of_part(source: _Source, start: int, limit: _Limit) -> int:
    longest = _longest(source, start, limit)
    ends = (end for end in _ends(source, start, longest) if source.can_end_at(end))
    return next(end for end in ends if limit.takes(source.part(start, end)))  # one character always fits


def _longest(source: _Source, start: int, limit: _Limit) -> int:
    """Where a part that begins at ``start`` is full."""
    opening = source.opening_at(start)
    low, high = start + 1, min(len(source.text), start + limit.units)
    while low < high:
        middle = (low + high + 1) // 2
        fits = limit.takes(opening + source.text[start:middle])
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _ends(source: _Source, start: int, longest: int) -> Iterator[int]:
    """Where to cut, the best place first; a part that is much too short helps nobody."""
    if longest == len(source.text):
        yield longest
    floor = start + (longest - start) // 3
    places = [source.places_of(separator, start, longest) for separator in ("\n\n", "\n", " ")]
    whole = [place for each in places for place in each if not source.is_kept_at(place)]
    yield from (place for place in whole if place >= floor)
    yield from sorted({*whole, *source.kept_from(start, longest)}, reverse=True)
    yield from places[-1]
    yield from range(longest, start, -1)
