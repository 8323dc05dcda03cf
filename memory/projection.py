"""What the history shows of the journal; pure."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memory.external import Displaced
from memory.journal import Intent

MAX_SUBJECT_CHARS = 200
_HEAD = re.compile(r"(r[0-9]+ [a-z]+:).*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HistoryCommit:
    """One commit of the history.

    Attributes:
        subject: first line of its message, whole; ``details`` are the lines below it.
        at_s: seconds since the epoch.
        ours: whether a task made the change, not another writer.
        contents: by path in the history; None removes.
    """

    subject: str
    details: tuple[str, ...]
    at_s: int
    ours: bool
    contents: Mapping[str, bytes | None]


def project(
    intent: Intent,
    displaced: Sequence[Displaced],
    *,
    base: Path,
    holds: Callable[[str, bytes | None], bool],
) -> Iterator[HistoryCommit]:
    """Commits that show an intent: first what others had changed, then what the task changed.

    Args:
        displaced: what the intent displaced.
        base: the memory base.
        holds: tells whether the history's newest state has this content at a path, None for no file.
    """
    at_s = intent.mtime_ns // 1_000_000_000
    for contents in _foreign(intent, displaced, base=base, holds=holds):
        yield HistoryCommit(f"external: found by r{intent.seq}", (), at_s, ours=False, contents=contents)
    yield HistoryCommit(
        subject=_subject(intent),
        details=(f"Task: {intent.task}", f"Lane: {intent.lane}", f"Client: {intent.client or '-'}"),
        at_s=at_s,
        ours=True,
        contents={
            history_path(change.root, change.path): change.new
            for change in intent.changes
            if not change.pruned
        },
    )


def without_documents(commit: HistoryCommit, paths: Collection[str]) -> HistoryCommit:
    """The same commit without documents at these paths; what it says goes with them."""
    if commit.contents.keys().isdisjoint(paths):
        return commit
    kept = {path: content for path, content in commit.contents.items() if path not in paths}
    return replace(commit, subject=_HEAD.sub(r"\1", commit.subject), contents=kept)


def history_path(root: str, path: str) -> str:
    """Where the history shows a document: as below the base, below ``local/`` for a root outside of it."""
    return f"local{root}/{path}" if root.startswith("/") else f"{root}/{path}"


def _foreign(
    intent: Intent,
    displaced: Sequence[Displaced],
    *,
    base: Path,
    holds: Callable[[str, bytes | None], bool],
) -> Iterator[dict[str, bytes | None]]:
    """States that others made since the last one that the history knows, oldest first."""
    paths = {change: history_path(change.root, change.path) for change in intent.changes}
    edited = {path: change.before for change, path in paths.items() if change.has_texts}
    edited = {path: content for path, content in edited.items() if not holds(path, content)}
    if edited:
        yield edited
    labels = {str(base / change.root / change.path): path for change, path in paths.items()}
    for one in displaced:
        if one.content is not None and one.path in labels:
            yield {labels[one.path]: one.content}


def _subject(intent: Intent) -> str:
    words = str(intent.result.get("summary", "")).split()
    text = "".join(character if character.isprintable() else " " for character in " ".join(words))
    return f"r{intent.seq} {intent.kind}: {text}"[:MAX_SUBJECT_CHARS].rstrip()
