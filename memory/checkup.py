"""Look for trouble in one memory root, without changing anything."""

import os
import stat
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from core import clock
from core.errors import InputError
from memory.apply import find_drift, read_index
from memory.beneath import FILE_MODE, FOLDER_MODE, open_folder, stat_of
from memory.content import read_regular
from memory.document import parse_document
from memory.errors import DocumentMissing, TooLarge
from memory.findings import Code, Finding
from memory.index import parse_index
from memory.names import SUFFIX, fold, is_document, is_temporary
from memory.scan import MAX_DOCUMENTS, Cause, LeftOut, walk_entries
from memory.standing import expiry_ms
from memory.validation import MAX_FILE_BYTES, find_header_problems, find_problems

SETTLED_MS = 60_000  # no commit takes that long
_PERMISSIONS = 0o777  # a set-group-ID bit that a folder inherits gives nobody access
_LEFT_OUT: dict[Cause, tuple[Code, str]] = {
    "link": ("link", "It is a link, which is never followed."),
    "too_deep": ("folder_too_deep", "It lies so deep that nothing in it is read."),
    "too_many_names": ("too_many_names", "It holds so many names that some are not read."),
    "unreadable": ("unreadable", "It can't be read."),
}


class Checkup:
    """Looks once at one root.

    Attributes:
        root: canonical path.
    """

    def __init__(self, root: Path, *, settled_ms: int = SETTLED_MS) -> None:
        """Prepare to look.

        Args:
            settled_ms: temporary files that were touched less than this ago may belong to a commit that is
                going on.
        """
        self.root = root
        self._settled_ms = settled_ms
        self._names: dict[tuple[str, str], str] = {}
        self._documents: set[str] = set()

    def findings(self) -> Iterator[Finding]:
        """Tell what is wrong; nothing about a root that is not there.

        Raises:
            InputError, OSError: the root can't be opened, or the disk failed.
        """
        left_out: list[LeftOut] = []
        try:
            with open_folder(self.root) as top:
                yield from mode_findings(self.root, "", os.fstat(top))
        except DocumentMissing:
            return
        for folder, path, _ in walk_entries(self.root, tell=left_out.append):
            yield from self._entry_findings(folder, path)
        for one in left_out:
            yield self._finding(_LEFT_OUT[one.cause][0], one.path, _LEFT_OUT[one.cause][1])
        if len(self._documents) > MAX_DOCUMENTS:
            yield self._finding("too_many_documents", "", f"Only {MAX_DOCUMENTS} of its documents are read.")
        yield from self._index_findings()

    def _finding(self, code: Code, path: str, sentence: str) -> Finding:
        return Finding(code, self.root, path, sentence)

    def _entry_findings(self, folder: int, path: str) -> Iterator[Finding]:
        name = path.rpartition("/")[2]
        found = stat_of(folder, name)
        if found is None:
            return
        if is_temporary(name):
            yield from self._temporary_findings(path, found)
            return
        yield from mode_findings(self.root, path, found)
        yield from self._twin_findings(path)
        if stat.S_ISREG(found.st_mode) and is_document(name):
            self._documents.add(path)
            yield from self._document_findings(folder, path)

    def _temporary_findings(self, path: str, found: os.stat_result) -> Iterator[Finding]:
        age_ms = clock.wall_ms() - found.st_ctime_ns // 1_000_000
        if stat.S_ISREG(found.st_mode) and age_ms >= self._settled_ms:
            yield self._finding("temporary_left", path, "It is a temporary file that a commit left behind.")

    def _twin_findings(self, path: str) -> Iterator[Finding]:
        parent, _, name = path.rpartition("/")
        other = self._names.setdefault((parent, fold(name)), name)
        if other != name:
            sentence = f"Only letter case or Unicode form tells its name from {other!r} beside it."
            yield self._finding("name_twin", path, sentence)

    def _document_findings(self, folder: int, path: str) -> Iterator[Finding]:
        try:
            content = read_regular(folder, path.rpartition("/")[2], max_bytes=MAX_FILE_BYTES)
        except DocumentMissing:
            return
        except TooLarge:
            sentence = (
                f"It is larger than {MAX_FILE_BYTES // 1024} KiB, so it is neither searched nor changed."
            )
            yield self._finding("document_too_large", path, sentence)
        except InputError:
            yield self._finding("link", path, "It has a second hard link, so it is not read.")
        except PermissionError:
            yield self._finding("unreadable", path, "It can't be read.")
        else:
            for code, sentence in document_troubles(content):
                yield self._finding(code, path, sentence)

    def _index_findings(self) -> Iterator[Finding]:
        if not find_drift([self.root]):
            return
        yield self._finding("index_drift", "", "Its index does not say what is there.")
        with open_folder(self.root) as top:
            text = (read_index(top) or b"").decode("utf-8", "replace")
        for link in parse_index(text):
            is_ours = link.path.endswith(SUFFIX) and "://" not in link.path
            if is_ours and link.path not in self._documents:
                sentence = f"Its index leads to {link.path!r}, which is not there."
                yield self._finding("index_dangling", "", sentence)


def mode_findings(root: Path, path: str, found: os.stat_result) -> Iterator[Finding]:
    """Tell whether a folder or plain file has other permissions than 0700 and 0600.

    Args:
        path: relative to the root.
    """
    wanted = FOLDER_MODE if stat.S_ISDIR(found.st_mode) else FILE_MODE
    mode = found.st_mode & _PERMISSIONS
    has_other_name = stat.S_ISREG(found.st_mode) and found.st_nlink > 1  # which may need its mode
    if mode != wanted and not has_other_name:
        yield Finding("mode", root, path, f"Its mode is {mode:04o}, not {wanted:04o}.")


def document_troubles(content: bytes) -> Iterator[tuple[Code, str]]:
    """What is wrong with the bytes of one document, each as a sentence that quotes none of its text."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        yield (
            "document_not_utf8",
            "It is not UTF-8, so it is never changed, and nothing in it can be forgotten.",
        )
        return
    # as what it was before: a line that looks left out may well be meant
    for problem in dict.fromkeys(chain(find_problems(content, before=content), find_header_problems(text))):
        yield "document_malformed", f"It can't be kept as a memory: {problem}."
    parsed = parse_document(content)
    if parsed is not None and parsed.extra.get("expires") and expiry_ms(parsed) is None:
        yield "expires_unreadable", "Its `expires` is neither a date nor a time, so it never does."
