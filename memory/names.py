"""Which names a memory document may have; pure text rules."""

import unicodedata
from collections.abc import Iterable, Sequence

from memory.beneath import MAX_NAME_BYTES, MAX_PATH_BYTES
from memory.errors import PathEscape, PathRefused

INDEX_NAME = "MEMORY.md"
PINNED_NAME = "pinned"
SUFFIX = ".md"
MAX_DEPTH = 16  # folders between a root and a document; what lies deeper is never listed
TEMPORARY_PREFIX = ".memlane-"  # never ends in .md, so no reader takes it for a document


def split_absolute(path: str) -> tuple[str, ...]:
    """Split an absolute path into names; empty ones and ``.`` are dropped.

    Raises:
        PathEscape: not absolute, or with ``..``.
        PathRefused: NUL, or a name or the path too long for a file system.
    """
    if "\0" in path:
        raise PathRefused("a path can't hold NUL")
    if not path.startswith("/"):
        raise PathEscape("the path must be absolute")
    parts = tuple(part for part in path.split("/") if part not in {"", "."})
    if ".." in parts:
        raise PathEscape("the path must not hold `..`")
    sizes = [len(part.encode("utf-8", "surrogatepass")) for part in parts]
    if max(sizes, default=0) > MAX_NAME_BYTES or sum(sizes) + len(sizes) > MAX_PATH_BYTES:
        raise PathRefused("the path or a name in it is too long")
    return parts


def is_document(name: str) -> bool:
    """Tell whether a file of this name counts as a document."""
    return name.endswith(SUFFIX) and name != INDEX_NAME


def is_index(name: str) -> bool:
    """Tell whether some file system takes this name for that of the index."""
    return fold(name) == fold(INDEX_NAME)


def is_temporary(name: str) -> bool:
    """Tell whether this is the name of a temporary file of ours."""
    return name.startswith(TEMPORARY_PREFIX)


def is_pinned(parts: Sequence[str]) -> bool:
    """Tell whether a path, relative to its root, lies in the folder that people keep by hand."""
    return bool(parts) and fold(parts[0]) == PINNED_NAME


def require_writable(parts: Sequence[str]) -> None:
    """Refuse a path, relative to its root, that may never be written or removed.

    Raises:
        PathRefused: the index, ``pinned/``, not ``.md``, deeper than 16 folders, characters that can't be
            shown or stored.
    """
    path = "/".join(parts)
    if not parts or not parts[-1].endswith(SUFFIX) or parts[-1] == SUFFIX:
        raise PathRefused("only files that end in .md can be written")
    if is_index(parts[-1]):
        raise PathRefused(f"{INDEX_NAME} is generated")
    if is_pinned(parts):
        raise PathRefused(f"{PINNED_NAME}/ is kept by hand")
    if len(parts) > MAX_DEPTH + 1:
        raise PathRefused(f"more than {MAX_DEPTH} folders deep")
    if not path.isprintable():
        raise PathRefused("the path holds control or invisible characters")


def fold(name: str) -> str:
    """What two names share that some file system takes for one: case and Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def refuse_twin(name: str, others: Iterable[str]) -> None:
    """Refuse a new name beside an existing one that differs only by case or Unicode form.

    Raises:
        PathRefused: names the existing one.
    """
    folded = fold(name)
    for other in others:
        if other != name and fold(other) == folded:
            raise PathRefused(f"too like the existing name {other!r}")
