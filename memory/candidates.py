"""What a forget may choose from: the entries of all memories, the likeliest first."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from core.acp import Scope
from memory.document import MemoryType, parse_document
from memory.entries import Entry, parse_entries
from memory.errors import PathRefused
from memory.names import require_writable
from memory.scan import ReadDocument
from memory.words import fold_text, words_of

MAX_CANDIDATES = 400
_MIN_LATIN_CHARS = 3  # shorter ones are inside of many others


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that may be removed.

    Attributes:
        id: ``scope:path`` of an entry that is a whole document, else ``scope:path:index``.
        path: of its document, relative to the root of the scope.
        name: of its document, as are type, description and mtime.
        mtime_ns: modification time, nanoseconds since the epoch.
    """

    id: str
    scope: Scope
    path: str
    entry: Entry
    type: MemoryType
    name: str
    description: str
    mtime_ns: int


def choose_candidates(
    documents: Iterable[ReadDocument], *, query: str, limit: int = MAX_CANDIDATES
) -> tuple[Candidate, ...]:
    """Choose the entries that a request to forget may mean.

    What no task may write, such as a document in ``pinned/``, is left out.

    Entries that hold the whole query as it is written come first, then those that hold more of its words,
    then the newest. Letter case and Unicode form don't matter.

    Args:
        limit: how many at most. Scopes share it evenly: one gets more than its part only where another does
            not need it.
    """
    ranking = _Ranking(query)
    by_scope: dict[Scope, list[_Ranked]] = {}
    for document in documents:
        if _is_writable(document.path):
            ranked = by_scope.setdefault(document.scope, [])
            ranked += [(ranking.place(candidate), candidate) for candidate in _candidates_in(document)]
    turns = zip_longest(*(sorted(ranked, key=_place) for ranked in by_scope.values()))
    fair = [ranked for turn in turns for ranked in turn if ranked is not None][: max(limit, 0)]
    return tuple(candidate for _, candidate in sorted(fair, key=_place))


_Place = tuple[bool, int, int, str, str, int]
_Ranked = tuple[_Place, Candidate]


def _place(ranked: _Ranked) -> _Place:
    return ranked[0]


class _Ranking:
    def __init__(self, query: str) -> None:
        self._query = fold_text(query)
        self._words = {
            word for word in words_of(self._query) if len(word) >= _MIN_LATIN_CHARS or not word.isascii()
        }

    def place(self, candidate: Candidate) -> _Place:
        entry = candidate.entry
        shown = candidate.path, candidate.name, candidate.description
        text = fold_text("\0".join((*shown, entry.text, entry.why, entry.how_to_apply)))
        is_literal = bool(self._query) and self._query in text
        found = sum(word in text for word in self._words)
        return not is_literal, -found, -candidate.mtime_ns, candidate.scope, candidate.path, entry.index


def _is_writable(path: str) -> bool:
    try:
        require_writable(path.split("/"))
    except PathRefused:
        return False
    return True


def _candidates_in(document: ReadDocument) -> Iterator[Candidate]:
    parsed = parse_document(document.content)
    if parsed is None:
        return
    for entry in parse_entries(document.content):
        place = f"{document.scope}:{document.path}"
        yield Candidate(
            id=place if entry.is_whole else f"{place}:{entry.index}",
            scope=document.scope,
            path=document.path,
            entry=entry,
            type=parsed.type,
            name=parsed.name,
            description=parsed.description,
            mtime_ns=document.mtime_ns,
        )
