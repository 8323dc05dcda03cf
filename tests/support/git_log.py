"""Reads a store's history as git stores it."""

from dataclasses import dataclass
from pathlib import Path

from dulwich.object_store import iter_tree_contents
from dulwich.objects import Commit
from dulwich.refs import Ref
from dulwich.repo import Repo

from memory.store import open_store


@dataclass(frozen=True, slots=True)
class Logged:
    """One commit.

    Attributes:
        message: whole, with its final newline.
        files: bytes by path, of the whole state after it.
    """

    sha: bytes
    message: str
    author: str
    files: dict[str, bytes]

    @property
    def subject(self) -> str:
        return self.message.partition("\n")[0]


def repository_of(base: Path) -> Path:
    return base / "memlane" / "history.git"


def show_log(base: Path) -> list[Logged]:
    """All commits, oldest first, once the history has been brought up to the journal."""
    store = open_store(base)
    while store.show_history():
        pass
    return read_log(base)


def read_log(base: Path) -> list[Logged]:
    """All commits, oldest first; none when there is no history."""
    if not (repository_of(base) / "HEAD").exists():
        return []
    with Repo(str(repository_of(base))) as repo:
        if Ref(b"refs/heads/main") not in repo.refs:
            return []
        commits = [entry.commit for entry in repo.get_walker(include=[repo.head()], order="topo")]
        return [_logged(repo, commit) for commit in reversed(commits)]


def _logged(repo: Repo, commit: Commit) -> Logged:
    files = {
        entry.path.decode(): repo[entry.sha].as_raw_string()
        for entry in iter_tree_contents(repo.object_store, commit.tree)
    }
    return Logged(commit.id, commit.message.decode(), commit.author.decode(), files)
