"""Three-way merge of documents, line by line; pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from memory.document import parse_document, set_document_fields

MAX_PAIRS = 200_000  # of lines that matching compares; merges run under the store's lock
_STAMPS = ("modified", "source")
_ENTRY = re.compile(rb"[-*+][ \t]")
_CODE = re.compile(rb"```|~~~")

_Lines = Sequence[bytes]


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Bring what both sides changed of ``base`` into one document.

    Lines keep their ends, so CRLF and a missing final newline survive. Entries that both sides add at one
    place are kept both, theirs first. The frontmatter's ``modified`` and ``source`` never clash: they come
    from the side with the later ``modified``.

    Returns:
        None when both changed the same or adjoining lines in different ways, or so much changed that finding
        the lines again takes long: more than 200,000 pairs of lines, those that all versions begin and end
        with left aside.
    """
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    versions = [version.splitlines(keepends=True) for version in _stamped_alike(base, ours, theirs)]
    head, old, mine, other, tail = _apart(*versions)
    if max(len(old) * len(side) + _pairs(old, side) for side in (mine, other)) > MAX_PAIRS:
        return None
    merged = _join(_merge_chunk(chunk) for chunk in _chunks(old, mine, other))
    return None if merged is None else b"".join(head) + merged + b"".join(tail)


def _apart(*versions: _Lines) -> tuple[_Lines, _Lines, _Lines, _Lines, _Lines]:
    """What all versions begin with, what is left of each, and what all end with."""
    shortest = min(map(len, versions))
    start = next((at for at in range(shortest) if len({lines[at] for lines in versions}) > 1), shortest)
    most = shortest - start
    stop = next((at for at in range(most) if len({lines[-1 - at] for lines in versions}) > 1), most)
    old, mine, other = (lines[start : len(lines) - stop] for lines in versions)
    return versions[0][:start], old, mine, other, versions[0][len(versions[0]) - stop :]


def _pairs(one: _Lines, other: _Lines) -> int:
    counts = Counter(other)
    return sum(counts[line] for line in one)


def _stamped_alike(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bytes, bytes]:
    """The three versions with the same stamps; every task stamps what it writes, so they always differ."""
    stamps = max(_stamps(ours), _stamps(theirs), key=lambda found: found.get(_STAMPS[0], ""))
    return (
        set_document_fields(base, stamps),
        set_document_fields(ours, stamps),
        set_document_fields(theirs, stamps),
    )


def _stamps(content: bytes) -> dict[str, str]:
    document = parse_document(content)
    extra = document.extra if document is not None else {}
    return {key: extra[key] for key in _STAMPS if isinstance(extra.get(key), str)}


@dataclass(frozen=True, slots=True)
class _Chunk:
    base: _Lines
    ours: _Lines
    theirs: _Lines


def _chunks(base: _Lines, ours: _Lines, theirs: _Lines) -> Iterator[_Chunk]:
    """Cut the three versions at every line that all of them have."""
    in_ours, in_theirs = _matches(base, ours), _matches(base, theirs)
    at = at_ours = at_theirs = 0
    for line in sorted(in_ours.keys() & in_theirs.keys()):
        yield _Chunk(base[at:line], ours[at_ours : in_ours[line]], theirs[at_theirs : in_theirs[line]])
        at, at_ours, at_theirs = line + 1, in_ours[line] + 1, in_theirs[line] + 1
        yield _Chunk((base[line],), (base[line],), (base[line],))
    yield _Chunk(base[at:], ours[at_ours:], theirs[at_theirs:])


def _matches(base: _Lines, other: _Lines) -> dict[int, int]:
    """Which line of ``other`` each line of ``base`` became, as far as it is still there."""
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + offset: block.b + offset for block in blocks for offset in range(block.size)}


def _merge_chunk(chunk: _Chunk) -> _Lines | None:
    if chunk.ours in (chunk.base, chunk.theirs):
        return chunk.theirs
    if chunk.theirs == chunk.base:
        return chunk.ours
    if not chunk.base and _are_entries(chunk.theirs) and _are_entries(chunk.ours):
        return [*chunk.theirs, *chunk.ours]
    return None


def _are_entries(added: _Lines) -> bool:
    """Whether lines can stand before or after others without becoming part of them, or taking them in."""
    text = b"".join(added)
    return _ENTRY.match(text) is not None and text.endswith(b"\n") and _CODE.search(text) is None


def _join(chunks: Iterator[_Lines | None]) -> bytes | None:
    lines: list[bytes] = []
    for chunk in chunks:
        if chunk is None:
            return None
        lines += chunk
    return b"".join(lines)
