"""What of a text is the fact, and what only the request, the marks or the characters around it."""

import re

from agent.models import vocabulary

MAX_LEADS = 16
MAX_LINE_CHARACTERS = 400

_LINE_END = re.compile(r"\r\n?")
# controls but tab and newline; what turns the direction of a text; blanks without width
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_LOOSE_JOINER = re.compile(r"(?<![^\s\u200c\u200d])[\u200c\u200d]+|[\u200c\u200d]+(?![^\s\u200c\u200d])")
_REQUEST = re.compile("|".join(f"(?:{one})" for one in vocabulary.REQUESTS), re.IGNORECASE)
_MARK = re.compile(r"\s*(?:(?:#{1,6}|[>*+\u2022\u2013-]|\[[ xX]\]|\d{1,3}\))\s+|\|\s*)")
_NUMBER_MARK = re.compile(r"\s*\d{1,3}\.\s+")
_NUMBERED_LINES = re.compile(r"^[ \t]*\d{1,3}[.)][ \t]+\S", re.MULTILINE)
_FENCE = re.compile(r"\s*(?:`{3}|~{3})")
_RULE = re.compile(r"[\s*_=~|:-]*\Z")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3})(?=[^\s*])([^*]+)(?<=\S)\1(?![\w.])|(`+)([^`]+)\3")
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^)\s]*\)")


def clean(text: str) -> str:
    """Replace by a blank what nobody sees but what changes how a text reads; line ends become LF.

    Joiners stay inside words, where Persian, Hindi and emoji need them.
    """
    return _LOOSE_JOINER.sub(" ", _UNSEEN.sub(" ", _LINE_END.sub("\n", text)))


def fact_of(text: str) -> str:
    """The text without a leading "please remember that" and without list and heading marks before it."""
    rest = text.strip()
    is_numbered = len(_NUMBERED_LINES.findall(rest)) > 1
    for _ in range(MAX_LEADS):
        shorter = _without_lead(rest, is_numbered=is_numbered)
        if shorter in {rest, ""}:
            break
        rest = shorter
    return rest


def first_line(text: str) -> str:
    """The first line that says something, without markdown marks and after 400 characters cut off.

    Code counts if there is nothing else.
    """
    prose, code = _lines(fact_of(text))
    line = fact_of(next(iter([*prose, *code]), ""))[:MAX_LINE_CHARACTERS]
    return " ".join(_LINK.sub(r"\1", _EMPHASIS.sub(r"\2\4", line)).split())


def marks_of(line: str) -> str:
    """List, quote and heading marks before a line's text, as they stand there."""
    end = 0
    for _ in range(MAX_LEADS):
        found = _MARK.match(line, end)
        if found is None:
            break
        end = found.end()
    return line[:end]


def _without_lead(text: str, *, is_numbered: bool) -> str:
    for lead in (_MARK, _NUMBER_MARK, _REQUEST):
        found = lead.match(text)
        if found is not None and found.end() and (lead is not _NUMBER_MARK or is_numbered):
            return text[found.end() :].strip()
    return text


def _lines(text: str) -> tuple[list[str], list[str]]:
    prose: list[str] = []
    code: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif _RULE.match(line) is None:
            (code if fenced else prose).append(line)
    return prose, code
