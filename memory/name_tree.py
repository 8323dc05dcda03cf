"""Documents that are to stand in one root together, each at a place of its own on every file system."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory.errors import PathRefused
from memory.names import fold, refuse_twin

_Folded = tuple[str, ...]


@dataclass(slots=True)
class _Place:
    """A file or folder that documents need.

    Attributes:
        documents: how many of them stand there or below.
    """

    name: str
    is_document: bool
    documents: int = 0


class NameTree:
    """Paths of documents, relative to one root; looking one up takes its depth, however many there are."""

    def __init__(self) -> None:
        self._places: dict[_Folded, _Place] = {}

    def __contains__(self, parts: Sequence[str]) -> bool:
        """Tell whether exactly this path was added."""
        place = self._places.get(_fold_all(parts))
        return place is not None and place.is_document and self._is_spelt(parts)

    def check(self, parts: Sequence[str]) -> None:
        """Refuse a path that can't stand beside the others; one of them can.

        Raises:
            PathRefused: a name on the way is like another one but for case or Unicode form, or is a file here
                and a folder there.
        """
        for name, place, is_last in self._on_the_way(parts):
            refuse_twin(name, [place.name])
            if place.is_document != is_last:
                raise PathRefused("one path can't be both a file and a folder")

    def add(self, parts: Sequence[str]) -> None:
        """Add a path that ``check`` lets pass; adding it again changes nothing."""
        if parts in self:
            return
        folded = _fold_all(parts)
        for depth, name in enumerate(parts, start=1):
            place = self._places.setdefault(folded[:depth], _Place(name, is_document=depth == len(parts)))
            place.documents += 1

    def discard(self, parts: Sequence[str]) -> None:
        """Take a path out; fine when it is not there."""
        if parts not in self:
            return
        folded = _fold_all(parts)
        for depth in range(1, len(parts) + 1):
            place = self._places[folded[:depth]]
            place.documents -= 1
            if not place.documents:
                del self._places[folded[:depth]]

    def _is_spelt(self, parts: Sequence[str]) -> bool:
        return all(name == place.name for name, place, _ in self._on_the_way(parts))

    def _on_the_way(self, parts: Sequence[str]) -> Iterator[tuple[str, _Place, bool]]:
        """Each name of a path with the place that is known for it, as far as one is."""
        folded = _fold_all(parts)
        for depth, name in enumerate(parts, start=1):
            place = self._places.get(folded[:depth])
            if place is None:
                return
            yield name, place, depth == len(parts)


def _fold_all(parts: Sequence[str]) -> _Folded:
    return tuple(fold(name) for name in parts)
