"""The git repository that holds the history. Imported late: its library takes a tenth of a second to load."""

import re
import shutil
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from dulwich import errors
from dulwich.diff_tree import tree_changes
from dulwich.file import FileLocked
from dulwich.object_store import commit_tree_changes
from dulwich.objects import Blob, Commit, ObjectID, Tree, TreeEntry
from dulwich.refs import Ref
from dulwich.repo import Repo

from memory.beneath import FOLDER_MODE
from memory.errors import StoreUnusable
from memory.projection import HistoryCommit, without_documents
from memory.replacing import new_beside

_BRANCH = "main"
_REF = Ref(f"refs/heads/{_BRANCH}".encode())
_FILE = 0o100644
_OURS, _THEIRS = b"memlane <memlane@localhost>", b"another writer <others@localhost>"
_SUBJECT = re.compile(rb"r([1-9][0-9]*) ")
_PRIVATE = "0600"
_BROKEN = (
    errors.ChecksumMismatch,
    errors.FileFormatException,
    errors.NotGitRepository,
    errors.WrongObjectException,
    AssertionError,
    FileLocked,
    KeyError,
    ValueError,
    zlib.error,
)


class GitRepository:
    """A bare repository with one branch; written by the holder of the history's lock."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def last_seq(self) -> int:
        """Number of the intent that the newest commit shows, 0 before the first."""
        head = self._head()
        match = _SUBJECT.match(head.message) if head is not None else None
        return int(match[1]) if match is not None else 0

    def holds(self, path: str, content: bytes | None) -> bool:
        """Tell whether the newest state has this content at a path, None for no file."""
        head = self._head()
        found = self._blob_at(head.tree, path) if head is not None else None
        return found == (Blob.from_string(content).id if content is not None else None)

    def record(self, commits: Iterable[HistoryCommit]) -> None:
        """Add commits, in their order and all at once: the branch moves after the last."""
        head = self._head()
        parent = head.id if head is not None else None
        tree = head.tree if head is not None else self._add_empty_tree()
        for commit in commits:
            tree = self._changed(tree, commit)
            parent = self._add_commit(commit, tree=tree, parent=parent)
        if parent is not None:
            self._repo.refs[_REF] = parent

    def commits(self) -> Iterator[HistoryCommit]:
        """All commits, oldest first, each with what it changed."""
        if (head := self._head()) is None:
            return
        tree = None
        for entry in self._repo.get_walker(include=[head.id], order="topo", reverse=True):
            yield self._read(entry.commit, before=tree)
            tree = entry.commit.tree

    def _read(self, commit: Commit, *, before: ObjectID | None) -> HistoryCommit:
        subject, _, details = commit.message.decode().rstrip("\n").partition("\n\n")
        return HistoryCommit(
            subject=subject,
            details=tuple(details.split("\n")) if details else (),
            at_s=commit.commit_time,
            ours=commit.author == _OURS,
            contents=dict(self._changed_between(before, commit.tree)),
        )

    def _changed_between(self, old: ObjectID | None, new: ObjectID) -> Iterator[tuple[str, bytes | None]]:
        for change in tree_changes(self._repo.object_store, old, new):
            if change.new is not None and change.new.sha is not None:
                yield _path(change.new), self._repo[change.new.sha].as_raw_string()
            elif change.old is not None:
                yield _path(change.old), None

    def _head(self) -> Commit | None:
        if _REF not in self._repo.refs:
            return None
        found = self._repo[self._repo.refs[_REF]]
        if not isinstance(found, Commit):
            raise errors.NotCommitError(found.id)
        return found

    def _blob_at(self, tree: ObjectID, path: str) -> ObjectID | None:
        found = self._repo[tree]
        names = path.encode().split(b"/")
        for depth, name in enumerate(names, start=1):
            if not isinstance(found, Tree) or name not in found:
                return None
            if depth == len(names):
                return found[name][1]
            found = self._repo[found[name][1]]
        return None

    def _add_empty_tree(self) -> ObjectID:
        tree = Tree()
        self._repo.object_store.add_object(tree)
        return tree.id

    def _changed(self, tree: ObjectID, commit: HistoryCommit) -> ObjectID:
        changes: list[tuple[bytes, int | None, ObjectID | None]] = []
        for path, content in commit.contents.items():
            if content is not None:
                blob = Blob.from_string(content)
                self._repo.object_store.add_object(blob)
                changes.append((path.encode(), _FILE, blob.id))
            elif self._blob_at(tree, path) is not None:
                changes.append((path.encode(), None, None))
        return commit_tree_changes(self._repo.object_store, tree, changes)

    def _add_commit(self, commit: HistoryCommit, *, tree: ObjectID, parent: ObjectID | None) -> ObjectID:
        made = Commit()
        made.tree, made.parents = tree, [parent] if parent is not None else []
        made.author, made.committer = (_OURS if commit.ours else _THEIRS), _OURS
        made.author_time = made.commit_time = commit.at_s
        made.author_timezone = made.commit_timezone = 0
        made.encoding = b"UTF-8"
        made.message = "\n".join([commit.subject, "", *commit.details]).strip().encode() + b"\n"
        self._repo.object_store.add_object(made)
        return made.id


def _path(entry: TreeEntry) -> str:
    return (entry.path or b"").decode()


@contextmanager
def open_repository(folder: Path) -> Iterator[GitRepository]:
    """Open the repository in a folder, making it there when the folder is empty.

    A holder of the lock that was killed may have left git's own lock files; nobody else writes here.

    Raises:
        StoreUnusable: what is there is no repository, or damaged.
        OSError: the disk failed.
    """
    try:
        if not (folder / "HEAD").exists():
            _make(folder)
        for left in ("HEAD.lock", "config.lock", f"{_REF.decode()}.lock"):
            (folder / left).unlink(missing_ok=True)
        with closing(Repo(str(folder))) as repo:
            yield GitRepository(repo)
    except _BROKEN as error:
        raise StoreUnusable(f"the history in {folder} is damaged: {type(error).__name__}") from error


def _make(folder: Path) -> None:
    making = _make_apart(folder)
    making.rename(folder)


def _make_apart(folder: Path) -> Path:
    """Make an empty repository beside a folder, to be renamed to it when it is whole.

    Returns:
        Its own folder; one that a killed maker left there is removed first.
    """
    making = new_beside(folder)
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    making.chmod(FOLDER_MODE)  # whatever the umask took away
    Repo.init_bare(making, default_branch=_BRANCH.encode(), shared_repository=_PRIVATE).close()
    return making


def copy_without(folder: Path, forget: Collection[str]) -> None:
    """Make a copy of a repository without some documents, as if they had never been.

    It lies where ``replacing.replace_folder`` looks for it.

    Raises:
        StoreUnusable, OSError: as for ``open_repository``.
    """
    with open_repository(folder) as old, open_repository(_make_apart(folder)) as new:
        for commit in old.commits():
            new.record([without_documents(commit, forget)])
