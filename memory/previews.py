"""What previews would commit: ``previews/<task>.json``, kept until it is applied or too old."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from core import clock
from core.acp import Scope
from core.errors import InputError
from core.ids import TaskId
from memory.content import digest
from memory.errors import PreviewStale, StoreUnusable
from memory.files import StoreFiles, file_name
from memory.journal import PlannedChange
from memory.paths import root_names
from memory.planning import restore_changes
from memory.records import Record
from memory.transaction import Transaction

MAX_KEEP_MS = 30 * 24 * 3_600_000
_FOLDER = "previews"


class SeenDocument(Record):
    """A document that the previewed task looked at.

    Attributes:
        path: relative to the root of its scope.
        digest: of its bytes, None for no file.
    """

    scope: Scope
    path: str
    digest: str | None


class StagedPreview(Record):
    """Edits that wait to be applied.

    Attributes:
        roots: of its workspace, as the journal names them, in the order of ``SCOPES``.
        until_ms: when it expires, epoch milliseconds.
        seen: documents that it read and does not change.
    """

    version: Literal[1] = 1
    task: str
    roots: tuple[str, ...]
    until_ms: int
    seen: tuple[SeenDocument, ...]
    changes: tuple[PlannedChange, ...]


def stage_preview(
    transaction: Transaction, changes: tuple[PlannedChange, ...], *, base: Path, keep_ms: int
) -> StagedPreview:
    """A preview of these changes, which stand for the transaction's own, to be kept for so long."""
    changed = {(change.scope, change.path) for change in changes}
    return StagedPreview(
        task=transaction.task.id,
        roots=root_names(base, transaction.roots),
        until_ms=clock.wall_ms() + min(keep_ms, MAX_KEEP_MS),
        seen=tuple(
            SeenDocument(scope=scope, path=path, digest=digest(content) if content is not None else None)
            for scope, path, content in transaction.seen_documents()
            if (scope, path) not in changed
        ),
        changes=changes,
    )


class Previews:
    """Reads and writes previews. Everything needs the store's lock."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files

    def keep(self, preview: StagedPreview) -> None:
        """Keep a preview durably, in the place of an earlier one of its task; those too old go."""
        now_ms = clock.wall_ms()
        keep_ms = preview.until_ms - now_ms
        self._files.remove_older(_FOLDER, before_ms=now_ms - keep_ms)
        self._files.replace(_FOLDER, file_name(preview.task), preview.to_json())

    def restore(self, task: TaskId, transaction: Transaction) -> None:
        """Stage what a preview would commit, in an empty transaction of the same roots.

        Raises:
            PreviewStale: it is unknown, too old, of another workspace, or memory is not as it saw it.
            StoreUnusable: it is damaged.
        """
        preview = self._find(task)
        if preview is None or preview.roots != root_names(self._files.base, transaction.roots):
            raise PreviewStale("there is no such preview", paths=())
        for change in restore_changes(preview.changes, roots=transaction.roots):
            transaction.adopt(change)
        stale = tuple(_find_stale(preview, transaction))
        if stale:
            raise PreviewStale("changed since the preview: " + ", ".join(stale), paths=stale)

    def forget(self, documents: Collection[tuple[str, str]]) -> None:
        """Remove previews that change one of these documents, given by root and path."""
        for name in self._files.names(_FOLDER):
            preview = self._read(name)
            if preview is None or any((one.root, one.path) in documents for one in preview.changes):
                self._files.remove(_FOLDER, name)

    def _find(self, task: TaskId) -> StagedPreview | None:
        preview = self._read(file_name(task))
        return preview if preview is not None and preview.until_ms > clock.wall_ms() else None

    def _read(self, name: str) -> StagedPreview | None:
        content = self._files.read(_FOLDER, name)
        if content is None:
            return None
        try:
            return StagedPreview.model_validate_json(content)
        except ValidationError as error:
            raise StoreUnusable(f"{_FOLDER}/{name} is damaged") from error


def _find_stale(preview: StagedPreview, transaction: Transaction) -> Iterator[str]:
    wanted = [(one.scope, one.path, one.digest) for one in preview.seen]
    wanted += [(change.scope, change.path, change.old) for change in preview.changes]
    for scope, relative, seen in wanted:
        path = f"{transaction.roots.of(scope)}/{relative}"
        if _digest_now(transaction, path) != seen:
            yield path


def _digest_now(transaction: Transaction, path: str) -> str | None:
    try:
        content = transaction.look_again(path)
    except InputError:
        return "none that a document has"
    return digest(content) if content is not None else None
