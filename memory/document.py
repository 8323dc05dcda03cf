"""One markdown memory document: frontmatter and body."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from core.acp import Topic
from memory.frontmatter import (
    drop_field,
    one_line,
    read_header,
    render_scalar,
    set_fields,
    split_frontmatter,
)

MemoryType = Topic
MEMORY_TYPES: tuple[MemoryType, ...] = get_args(MemoryType)

_SHOWN = frozenset({"type", "name", "description"})


@dataclass(frozen=True, slots=True)
class Document:
    """What a document says, read permissively.

    Attributes:
        name: ``name``, else ``title``, else the type; one line.
        description: one line, may be empty.
        body: text after the closing ``---`` line, as it is in the file.
        extra: every other frontmatter key; numbers and dates stay text, bool only from true and false.
    """

    type: MemoryType
    name: str
    description: str
    body: str
    extra: Mapping[str, Any] = field(default_factory=dict)


def parse_document(data: bytes) -> Document | None:
    """Read a document; None when it is no memory (no frontmatter, no known type).

    Bytes that are no UTF-8 come as U+FFFD: don't write such a body back.
    """
    split = split_frontmatter(data.decode("utf-8", "replace"))
    return _document(split.header, split.body) if split is not None else None


def _document(header: str, body: str) -> Document | None:
    fields = read_header(header)
    kind = one_line(fields.get("type"))
    if kind not in MEMORY_TYPES:
        return None
    return Document(
        type=kind,
        name=one_line(fields.get("name")) or one_line(fields.get("title")) or kind,
        description=one_line(fields.get("description")),
        body=body,
        extra={key: value for key, value in fields.items() if key not in _SHOWN},
    )


def render_document(
    *,
    type: MemoryType,  # noqa: A002 - the field's name in the file
    name: str,
    description: str,
    body: str,
    extra: Mapping[str, str] | None = None,
) -> bytes:
    """Write a new document with LF lines; ``parse_document`` gives the same values back.

    Name and description become one line; ``body`` starts right after the closing fence, so one that
    begins with a newline leaves the usual blank line.
    """
    shown = {"type": type, "name": one_line(name), "description": one_line(description)}
    lines = [f"{render_scalar(key)}: {render_scalar(value)}\n" for key, value in shown.items()]
    lines += [f"{render_scalar(key)}: {render_scalar(value)}\n" for key, value in (extra or {}).items()]
    return f"---\n{''.join(lines)}---\n{body}".encode()


def set_document_fields(data: bytes, fields: Mapping[str, str]) -> bytes:
    """Set frontmatter fields of a document, one line each; every other byte stays as it is.

    Comments, key order, unknown keys, line ends and byte order mark survive. A document without
    frontmatter, or not in UTF-8, comes back unchanged.
    """
    return _with_header(data, lambda header: set_fields(header, fields))


def drop_document_field(data: bytes, key: str) -> bytes:
    """Take a frontmatter field out of a document; all else as for ``set_document_fields``."""
    return _with_header(data, lambda header: drop_field(header, key))


def _with_header(data: bytes, change: Callable[[str], str]) -> bytes:
    try:
        split = split_frontmatter(data.decode("utf-8"))
    except UnicodeDecodeError:
        return data
    if split is None:
        return data
    return f"{split.opening}{change(split.header)}{split.closing}{split.body}".encode()
