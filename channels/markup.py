"""What of markdown belongs together: code blocks, and what else must not be cut inside."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

Span = tuple[int, int]
"""Start and end of a stretch of text."""

_FENCE = re.compile(
    r"^(?P<lead>[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+)"
    r"(?P<mark>`{3,16}(?!`)|~{3,16}(?!~))(?P<info>[^\n]*+)$",
    re.MULTILINE,
)
_PARAGRAPH_END = re.compile(r"\n(?=[ \t]*+(?:\n|(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]|[>|]))")
_TABLE_RULE = re.compile(
    r"^[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$", re.MULTILINE
)
_SIGN = re.compile(r"\\.|`++|!?\[|\]|\*++|_++|~~", re.DOTALL)
_LINK_TARGET = re.compile(r"\((?:[^()\\\n]|\\.|\([^()\n]*+\))*+\)|\[[^\[\]\n]*+\]")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A block of code between fences.

    Attributes:
        start, end: from what is seen first on the line of its first fence to the end of its last one.
        body_start, body_end: the code, without the newlines that separate it from the fences.
        indent: blanks that the code has for standing in a list.
        is_item: whether it begins an item of that list.
        mark: the fence.
        info: what follows the first fence, such as the language.
    """

    start: int
    body_start: int
    body_end: int
    end: int
    indent: int
    is_item: bool
    mark: str
    info: str

    @property
    def opening(self) -> str:
        """The fence that begins the block, outside of a list."""
        return self.mark + self.info


def code_blocks(text: str) -> list[CodeBlock]:
    """All blocks of code in their order; one without a last fence goes to the end of the text."""
    blocks: list[CodeBlock] = []
    opened: re.Match[str] | None = None
    for found in _FENCE.finditer(text):
        if opened is None:
            opened = found if _may_open(found) else None
        elif _closes(found, opened):
            blocks.append(_block(opened, found.start("lead") - 1, found.end("mark")))
            opened = None
    if opened is not None:
        blocks.append(_block(opened, len(text), len(text)))
    return blocks


def _may_open(found: re.Match[str]) -> bool:
    return found["mark"][0] == "~" or "`" not in found["info"]


def _closes(found: re.Match[str], opened: re.Match[str]) -> bool:
    is_bare = not found["lead"].strip() and not found["info"].strip()
    return is_bare and found["mark"].startswith(opened["mark"])


def _block(opened: re.Match[str], body_end: int, end: int) -> CodeBlock:
    body_start, lead = min(opened.end() + 1, end), opened["lead"]
    return CodeBlock(
        start=opened.start("mark") - len(lead.lstrip()),
        body_start=body_start,
        body_end=max(body_start, body_end),
        end=end,
        indent=len(lead),
        is_item=bool(lead.strip()),
        mark=opened["mark"],
        info=opened["info"].strip(),
    )


def kept_spans(text: str, blocks: Sequence[CodeBlock]) -> list[Span]:
    """What must not be cut inside, apart from code blocks: links, emphasis, code spans, rows of tables.

    Args:
        blocks: all code blocks of the text.

    Returns:
        Spans in their order, of which none overlaps another.
    """
    spans: list[Span] = [(block.start, block.end) for block in blocks if block.body_start == block.body_end]
    for start, stop in _between(blocks, len(text)):
        spans += _table_rows(text, start, stop)
        for paragraph in _paragraphs(text, start, stop):
            spans += _Inline().spans(text, *paragraph)
    return _merged(spans)


def _between(blocks: Sequence[CodeBlock], length: int) -> Iterator[Span]:
    position = 0
    for block in blocks:
        yield position, block.start
        position = block.end
    yield position, length


def _paragraphs(text: str, start: int, stop: int) -> Iterator[Span]:
    for found in _PARAGRAPH_END.finditer(text, start, stop):
        yield start, found.start()
        start = found.end()
    yield start, stop


def _table_rows(text: str, start: int, stop: int) -> Iterator[Span]:
    """The head of each table together with its rule, and each row."""
    for rule in _TABLE_RULE.finditer(text, start, stop):
        head = text.rfind("\n", start, max(start, rule.start() - 1)) + 1 or start
        if rule.start() == start or "|" not in text[head : rule.start()]:
            continue
        yield head, rule.end() + 1
        row = rule.end() + 1
        while row < stop and "|" in text[row : (end := _line_end(text, row, stop))]:
            yield row, end
            row = end + 1


def _line_end(text: str, start: int, stop: int) -> int:
    found = text.find("\n", start, stop)
    return found if found >= 0 else stop


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


@dataclass(slots=True)
class _Inline:
    """What is open while one paragraph is read, nearly as CommonMark reads it, in one pass.

    Attributes:
        brackets: where a text of a link may have begun.
        runs: by their character, where emphasis may have begun and how many characters of it are unmatched.
        ticks: by their number, where runs of backticks begin.
        found: what was closed.
    """

    brackets: list[int] = field(default_factory=list)
    runs: dict[str, list[list[int]]] = field(default_factory=lambda: defaultdict(list))
    ticks: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    found: list[Span] = field(default_factory=list)

    def spans(self, text: str, start: int, stop: int) -> list[Span]:
        signs = list(_SIGN.finditer(text, start, stop))
        for sign in signs:
            if sign[0][0] == "`":
                self.ticks[len(sign[0])].append(sign.start())
        passed = start
        for sign in signs:
            if sign.start() >= passed:
                passed = self._take(sign, text, stop)
        return self.found

    def _take(self, sign: re.Match[str], text: str, stop: int) -> int:
        """Note a sign; returns where reading goes on."""
        match sign[0][0]:
            case "`":
                return self._code_span(sign)
            case "[" | "!":
                self.brackets.append(sign.start())
            case "]":
                return self._link(sign, text, stop)
            case "*" | "_" | "~":
                self._emphasis(sign, text, stop)
        return sign.end()

    def _code_span(self, sign: re.Match[str]) -> int:
        places = self.ticks[len(sign[0])]
        following = bisect_right(places, sign.start())
        if following == len(places):
            return sign.end()
        end = places[following] + len(sign[0])
        self.found.append((sign.start(), end))
        return end

    def _link(self, sign: re.Match[str], text: str, stop: int) -> int:
        if not self.brackets:
            return sign.end()
        opened = self.brackets.pop()
        target = _LINK_TARGET.match(text, sign.end(), stop)
        if target is None:
            return sign.end()
        self.found.append((opened, target.end()))
        return target.end()

    def _emphasis(self, sign: re.Match[str], text: str, stop: int) -> None:
        before = text[sign.start() - 1 : sign.start()] or " "
        after = text[sign.end() : min(sign.end() + 1, stop)] or " "
        is_in_word = sign[0][0] == "_" and before.isalnum() and after.isalnum()
        left = len(sign[0])
        opened = self.runs[sign[0][0]]
        if not before.isspace() and not is_in_word:
            while left and opened:
                used = min(left, opened[-1][1])
                left -= used
                opened[-1][1] -= used
                self.found.append((opened[-1][0], sign.end()))
                if not opened[-1][1]:
                    opened.pop()
        if left and not after.isspace() and not is_in_word:
            opened.append([sign.start(), left])
