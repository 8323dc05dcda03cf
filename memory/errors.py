"""What can be wrong with memory, a path in it, or the store below it."""

from collections.abc import Iterable

from core.errors import DependencyError, InputError, StateError
from memory.visible import visible_line

MAX_MEMBER_CHARS = 200


class PathEscape(InputError):
    """The path leads outside the memory roots: ``..``, another folder, a link, a second hard link."""

    code = "path_escape"


class PathRefused(InputError):
    """The path is inside a root, but may not be used in this way.

    Not ``.md``, the generated index, ``pinned/``, a twin by case or Unicode form of an
    existing name, too long, no regular file, or a root that this transaction may not change.
    """

    code = "path_refused"


class DocumentMissing(InputError):
    """There is no such file or folder."""

    code = "document_missing"


class DocumentInvalid(InputError):
    """A staged document is not well-formed. Nothing was committed.

    Attributes:
        path: absolute path of the document.
        reason: what is wrong, one sentence for the author of the text; quotes none of it.
    """

    code = "document_invalid"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class TooLarge(InputError):
    """More bytes, files or entries than one file, task or root may have."""

    code = "too_large"


class ArchiveInvalid(InputError):
    """An archive holds what can't be imported. Nothing was.

    Attributes:
        member: name of the member, as one line of 200 characters at most; None for the archive as a whole.
        reason: what is wrong, one sentence that quotes no content.
    """

    code = "invalid_archive"

    def __init__(self, member: str | None, reason: str) -> None:
        self.member = visible_line(member)[:MAX_MEMBER_CHARS] if member is not None else None
        self.reason = reason
        super().__init__(f"{self.member or 'the archive'}: {reason}")


class ArchiveTooLarge(InputError):
    """More memory than one export or import may hold; nothing was done."""

    code = "archive_too_large"


class EntryUnknown(InputError):
    """The document has no entry of this index, as it is now. Nothing was removed.

    Attributes:
        index: the first one that is unknown.
    """

    code = "entry_unknown"

    def __init__(self, index: int) -> None:
        super().__init__(f"the document has no entry {index}")
        self.index = index


class RevisionNotFound(InputError):
    """There is no such revision, or it touches no memory of this workspace."""

    code = "revision_not_found"


class RevisionPruned(StateError):
    """The revision is known, and its texts are not kept any more: it can't be shown or taken back."""

    code = "revision_pruned"


class RevisionUndone(StateError):
    """Memory is as it was before the revision: there is nothing to take back."""

    code = "revision_undone"


class LeaseLost(StateError):
    """A newer fence than ours is stored, or ours is gone: another worker has the lane. Nothing was committed.

    Attributes:
        stored_fence: the fence on record; 0 when there is none.
    """

    code = "lease_lost"

    def __init__(self, message: str, *, stored_fence: int) -> None:
        super().__init__(message)
        self.stored_fence = stored_fence


class TaskClosed(StateError):
    """The task was declared ended without a commit, so it may not commit any more."""

    code = "task_closed"


class CommitConflict(StateError):
    """Documents changed after the transaction read them. Nothing was committed; run the task again.

    Attributes:
        paths: absolute paths of those documents.
    """

    code = "memory_conflict"

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = tuple(paths)
        super().__init__("changed meanwhile: " + ", ".join(self.paths))


class PreviewStale(StateError):
    """Memory is not as the preview saw it, or there is no such preview (any more). Nothing was committed.

    Attributes:
        paths: absolute paths of the documents that differ.
    """

    code = "preview_stale"

    def __init__(self, message: str, *, paths: tuple[str, ...]) -> None:
        super().__init__(message)
        self.paths = paths


class StoreBusy(DependencyError):
    """The store's lock was not free within 10 s, or was held too long to go on. Try again."""

    code = "store_busy"


class StoreUnusable(DependencyError):
    """The memory base is missing, not writable or damaged; the message says which file and why."""

    code = "store_unusable"
