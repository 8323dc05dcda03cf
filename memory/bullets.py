"""Where the top bullets of a markdown text begin and end; pure.

Nesting follows CommonMark: what is indented as far as a bullet's text belongs to the bullet, a bullet
that is indented less is its neighbour. Two things are read as people mean them: a reason (``Why:``) is
part of the bullet above it, and so is a fence that follows without a blank line, however it is indented.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")  # str.splitlines() also splits at U+2028
_BLANK = " \t\r\n"
_TAB_COLUMNS = 4
_MAX_INDENT = 3  # one more makes code of a line
_INDENT = re.compile(r"[ \t]*")
_MARK = re.compile(r"([-*+]|\d{1,9}[.)])([ \t]+(?=[^ \t])|[ \t]*\Z)")
_MARKS = re.compile(r"(?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|\Z))*[ \t]*")
_RULE = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|\Z)")
_FENCE = re.compile(r"(`{3,})[^`]*\Z|(~{3,})")
_QUOTE = ">"
_COMMENT, _COMMENT_END = "<!--", "-->"
_REASON = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?([*_]{0,3})(why|how to apply)[ \t]*"
    r"(?:\1[ \t]*[:\uff1a]|[:\uff1a](?:[ \t]*\1)?)[ \t]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reason:
    """The beginning of a ``Why:`` or ``How to apply:`` line.

    Attributes:
        label: in lower case, without mark and colon.
        rest: what the line says after it.
    """

    label: str
    rest: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a text.

    Attributes:
        start: offset of its first character.
        stop: offset after its line end.
        text: without indent and line end.
        indent: in columns, a tab reaching to the next multiple of four.
    """

    start: int
    stop: int
    text: str
    indent: int


@dataclass(slots=True)
class _Item:
    start: int
    stop: int
    content_column: int
    is_bullet: bool


@dataclass(frozen=True, slots=True)
class _Literal:
    """An open fence or comment: nothing in it is markdown.

    Attributes:
        closing: what ends it.
        is_inside: whether it is indented as its item's text, so that it ends with the item.
    """

    closing: str
    is_inside: bool

    def is_closed_by(self, text: str) -> bool:
        if self.closing == _COMMENT_END:
            return _COMMENT_END in text
        return text.startswith(self.closing) and not text.strip(self.closing[0] + _BLANK)


def split_lines(text: str, start: int = 0) -> Iterator[Line]:
    """Cut a text into lines at line feeds only; joined they are the text.

    Args:
        start: offset to begin at.
    """
    for match in _LINE.finditer(text, start):
        whole = match[0].rstrip("\r\n")
        margin = _INDENT.match(whole)
        prefix = margin[0] if margin is not None else ""
        yield Line(match.start(), match.end(), whole[len(prefix) :].rstrip(_BLANK), _columns(prefix))


def reason_of(text: str) -> Reason | None:
    """Read a line that gives a reason, with or without a bullet and bold type; None for any other."""
    match = _REASON.match(text)
    return Reason(match[2].lower(), text[match.end() :]) if match is not None else None


def without_marks(text: str) -> str:
    """A line without the marks of the bullets that begin on it."""
    match = _MARKS.match(text)
    return text[match.end() :] if match is not None else text


def introduces(text: str) -> bool:
    """Tell whether a line states nothing itself: blank, heading, rule, comment, or ending with a colon."""
    is_comment = text.startswith(_COMMENT) and text.endswith(_COMMENT_END)
    return not text or is_comment or _is_structure(text) or text.rstrip("*_ ").endswith((":", "\uff1a"))


def find_bullets(text: str, start: int = 0) -> list[tuple[int, int]]:
    """Find the bullets at the top level of every list.

    A bullet reaches to the end of its last line, blank lines after it left out. Bullets in fences,
    comments, quotes and numbered lists are none. An open fence reaches to the end of the bullet that it is
    indented for, else to the end of the text; there it takes nothing with it.

    Args:
        start: offset to begin at.

    Returns:
        Offsets of start and stop of each, in order.
    """
    scan = _Scan()
    for line in split_lines(text, start):
        scan.take(line)
    return [(item.start, item.stop) for item in scan.items if item.is_bullet]


@dataclass(slots=True)
class _Scan:
    items: list[_Item] = field(default_factory=list)
    _item: _Item | None = None
    _literal: _Literal | None = None
    _in_paragraph: bool = False

    def take(self, line: Line) -> None:
        if self._literal is not None and self._is_literal(line, self._literal):
            return
        if not line.text:
            self._in_paragraph = False
            return
        if self._item is None or not self._belongs(line, self._item):
            self._item = self._item_at(line)
        self._literal = self._literal_at(line)
        if self._literal is None or self._literal.is_inside:
            self._extend(line)
        self._in_paragraph = self._literal is None and self._is_in_paragraph(line)

    def _is_literal(self, line: Line, literal: _Literal) -> bool:
        if literal.is_closed_by(line.text):
            self._literal = None
            self._in_paragraph = False
        elif literal.is_inside and self._is_outside_item(line):
            self._literal = None
            return False
        elif not literal.is_inside:
            return True
        self._extend(line)
        return True

    def _is_outside_item(self, line: Line) -> bool:
        return bool(line.text) and self._item is not None and line.indent < self._item.content_column

    def _belongs(self, line: Line, item: _Item) -> bool:
        if line.indent >= item.content_column:
            return True
        if reason_of(line.text) is not None:
            return item.is_bullet
        return self._in_paragraph and not _interrupts(line)

    def _item_at(self, line: Line) -> _Item | None:
        mark = _mark_of(line)
        if mark is None or (self._item is None and self._in_paragraph and not _may_interrupt(mark)):
            return None
        item = _Item(line.start, line.stop, _content_column(line, mark), mark[1] in "-*+")
        self.items.append(item)
        return item

    def _literal_at(self, line: Line) -> _Literal | None:
        column = self._item.content_column if self._item is not None else None
        begins = self._item is not None and self._item.start == line.start
        is_inside = column is not None and (begins or line.indent >= column)
        if column is None and line.indent > _MAX_INDENT:
            return None
        return _opening(without_marks(line.text), is_inside=is_inside)

    def _is_in_paragraph(self, line: Line) -> bool:
        is_code = line.indent > _MAX_INDENT and self._item is None and not self._in_paragraph
        return not is_code and not _is_structure(line.text) and not line.text.startswith(_QUOTE)

    def _extend(self, line: Line) -> None:
        if self._item is not None and line.text:
            self._item.stop = line.stop


def _opening(text: str, *, is_inside: bool) -> _Literal | None:
    if text.startswith(_COMMENT):
        return None if _COMMENT_END in text else _Literal(_COMMENT_END, is_inside)
    fence = _FENCE.match(text)
    return _Literal(fence[1] or fence[2], is_inside) if fence is not None else None


def _mark_of(line: Line) -> re.Match[str] | None:
    if line.indent > _MAX_INDENT or _RULE.fullmatch(line.text) is not None:
        return None
    return _MARK.match(line.text)


def _may_interrupt(mark: re.Match[str]) -> bool:
    # outside of lists "Title" above "-" is a heading, and a sentence may go on with a year: "2019. Then"
    return bool(mark[2]) and (mark[1] in "-*+" or mark[1][:-1] == "1")


def _interrupts(line: Line) -> bool:
    """Tell whether a line begins something new where the paragraph of an item could go on."""
    if line.indent > _MAX_INDENT:
        return False
    begins_item = _mark_of(line) is not None
    return begins_item or _is_structure(line.text) or line.text.startswith((_QUOTE, _COMMENT))


def _is_structure(text: str) -> bool:
    return _HEADING.match(text) is not None or _RULE.fullmatch(text) is not None


def _content_column(line: Line, mark: re.Match[str]) -> int:
    after_mark = line.indent + len(mark[1])
    column = _columns(" " * line.indent + mark[0])
    return column if after_mark < column <= after_mark + _TAB_COLUMNS else after_mark + 1


def _columns(text: str) -> int:
    return len(text.expandtabs(_TAB_COLUMNS))
