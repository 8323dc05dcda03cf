"""The header of a document: split it off, read it, change single lines of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from core.text import js_trim, well_formed

MAX_HEADER_BYTES = 8 * 1024
_HEAD_CHARS = MAX_HEADER_BYTES + 17  # with a byte order mark and two fences
HEAD_BYTES = 4 * _HEAD_CHARS  # of a document, in which its header ends if it has one
_MAX_DEPTH = 16
_BOM = "\ufeff"
_FENCE = re.compile(r"---[ \t]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")  # str.splitlines() also splits at U+2028 and would lose it
# PyYAML lets what its constructors trip over through: `!!bool maybe`, "\\U00110000", a number of 5,000 digits
_NOT_YAML = (yaml.YAMLError, KeyError, ValueError, OverflowError, RecursionError)
_KEY_LINE = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*?))?[ \t\r]*\Z")
_ANY_KEY = re.compile(r"""(["']?)([A-Za-z_][\w-]*)\1[ \t]*:""")  # YAML reads a quoted key as the same key
# Text that YAML reads as itself: starts with a letter or digit, no comment, no second key, no edge blanks.
_ODD = r"#\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff"
_PLAIN = re.compile(rf"[^\W_](?:(?:[^:{_ODD}]|:(?=\S))*[^:\s{_ODD}])?")
_BREAKS = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
_NOT_TEXT = frozenset({"true", "false", "null"})


@dataclass(frozen=True, slots=True)
class Split:
    """A document cut at its fences; the parts joined are the document.

    Attributes:
        opening: byte order mark and first fence line.
        header: lines between the fences, line ends included.
        closing: second fence line.
    """

    opening: str
    header: str
    closing: str
    body: str


def split_frontmatter(text: str) -> Split | None:
    """Cut a document at its fences; None when it has no header, or one over 8 KiB."""
    lines = _lines(text[:_HEAD_CHARS])
    if not lines or not _is_fence(lines[0].removeprefix(_BOM)):
        return None
    size = len(lines[0])
    for line in lines[1:]:
        if _is_fence(line):
            end = size + len(line)
            header = text[len(lines[0]) : size]
            fits = len(header.encode("utf-8", "surrogatepass")) <= MAX_HEADER_BYTES
            return Split(lines[0], header, text[size:end], text[end:]) if fits else None
        size += len(line)
    return None


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)


def _is_fence(line: str) -> bool:
    return _FENCE.fullmatch(line.rstrip("\r\n")) is not None


def read_header(header: str) -> dict[str, Any]:
    """Read a header's top-level keys; scalars come as text, bool only from true and false.

    What is no YAML (``description: uses: colons``) is read line by line, as people and models write it.
    A key that is there twice counts once, the first time.
    """
    plain = _read_plain(header)
    if plain is not None:
        return plain
    try:
        return _read_yaml(header)
    except _NOT_YAML:
        return _read_lines(header)


def _read_plain(header: str) -> dict[str, Any] | None:
    # PyYAML takes about a millisecond a document; nearly every header needs none of it.
    found: dict[str, Any] = {}
    for line in header.splitlines():
        match = _KEY_LINE.match(line)
        if match is None or match[2] is None or not _is_plain(match[2]):
            return None
        found.setdefault(match[1], match[2])
    return found


def _is_plain(value: str) -> bool:
    return _PLAIN.fullmatch(value) is not None and value.casefold() not in _NOT_TEXT


def _read_yaml(header: str) -> dict[str, Any]:
    loader = _Loader(header)
    try:
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise yaml.YAMLError("the header is no mapping")
        found: dict[str, Any] = {}
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                found.setdefault(key.value, loader.construct_object(value, deep=True))
        return found
    finally:
        loader.dispose()


def _read_lines(header: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in _lines(header):
        match = _KEY_LINE.match(line.rstrip("\r\n"))
        if match is not None:
            found.setdefault(match[1], js_trim(match[2] or ""))
    return found


class _Loader(yaml.SafeLoader):
    """SafeLoader with text, lists, maps, true, false and null only; no aliases, bounded depth."""

    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent) or self._depth > _MAX_DEPTH:
            raise yaml.YAMLError("aliases and deep nesting are not read")
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


_BASIC_TAGS = [f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map", "bool", "null")]
_Loader.yaml_constructors = {tag: yaml.SafeLoader.yaml_constructors[tag] for tag in [None, *_BASIC_TAGS]}
_Loader.yaml_implicit_resolvers = {}
_Loader.add_implicit_resolver(_BASIC_TAGS[3], re.compile(r"(?i:true|false)\Z"), list("tTfF"))
_Loader.add_implicit_resolver(_BASIC_TAGS[4], re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""])


def one_line(value: Any) -> str:
    """Make one line of text of a header value; what is neither text nor true nor false gives empty text."""
    if isinstance(value, bool):
        return str(value).lower()
    return js_trim(_BREAKS.sub(" ", well_formed(value))) if isinstance(value, str) else ""


def render_scalar(text: str) -> str:
    """Write text so that YAML and line-by-line readers both understand it; quoted only when it must be."""
    if _is_plain(text):
        return text
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def set_fields(header: str, fields: Mapping[str, str]) -> str:
    """Set top-level fields of a header, each on one line; every other byte stays.

    A field that is there is replaced where it stands (with the lines that continue it),
    a new one goes to the end. Line ends follow the header's first line.
    """
    lines = _lines(header)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    for key, value in fields.items():
        line = f"{key}: {render_scalar(value)}{end}"
        start, stop = _find_field(lines, key)
        lines[start:stop] = [line]
    return "".join(lines)


def drop_field(header: str, key: str) -> str:
    """Take a top-level field out of a header, each time that it is there; every other byte stays."""
    lines = _lines(header)
    start, stop = _find_field(lines, key)
    while start < stop:
        del lines[start:stop]
        start, stop = _find_field(lines, key)
    return "".join(lines)


def _find_field(lines: list[str], key: str) -> tuple[int, int]:
    for start, line in enumerate(lines):
        match = _ANY_KEY.match(line)
        if match is not None and match[2] == key:
            stop = start + 1
            while stop < len(lines) and lines[stop][0] in " \t-":
                stop += 1
            return start, stop
    return len(lines), len(lines)
