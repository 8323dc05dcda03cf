"""What can be wrong with a memory base, said so that a person can mend it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Code = Literal[
    "document_malformed",
    "document_not_utf8",
    "document_too_large",
    "expires_unreadable",
    "folder_too_deep",
    "index_dangling",
    "index_drift",
    "link",
    "mode",
    "name_twin",
    "owner_damaged",
    "owner_misplaced",
    "project_duplicate",
    "root_blocked",
    "store_damaged",
    "temporary_left",
    "too_many_documents",
    "too_many_names",
    "unreadable",
]

MENDABLE: frozenset[Code] = frozenset({"index_dangling", "index_drift", "mode", "temporary_left"})
_FIX = "`memlane doctor --fix` does."
_MENDS: Mapping[Code, str] = {
    "document_malformed": "Give it a header with type, name and description between two `---` lines.",
    "document_not_utf8": "Save it as UTF-8.",
    "document_too_large": "Split it, or move what is no memory elsewhere.",
    "expires_unreadable": "Write a date as in 2026-01-31, or a time as in 2026-01-31T12:00:00Z.",
    "folder_too_deep": "Move it up.",
    "index_dangling": f"Rebuild the index: {_FIX}",
    "index_drift": f"Rebuild the index: {_FIX}",
    "link": "Put the file itself in its place, or move the link elsewhere.",
    "mode": f"Take the permissions away: {_FIX}",
    "name_twin": "Rename one of the two, or merge them.",
    "owner_damaged": 'Write {"workspace": "<absolute path>"} into it, with the path whose memory this is.',
    "owner_misplaced": "Move the documents into the folder that the workspace uses.",
    "project_duplicate": "Move the documents into the folder that is used, then remove this one.",
    "root_blocked": "Make room for the documents that the worker's log names; the next task goes on then.",
    "store_damaged": "Restore the store's folder from a backup; the memory files themselves are whole.",
    "temporary_left": f"Remove it: {_FIX}",
    "too_many_documents": "Merge or remove documents; a dream helps.",
    "too_many_names": "Spread the files over several folders.",
    "unreadable": "Give its owner and the service permission to read it.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong in one place.

    Attributes:
        code: stable name of the kind of trouble.
        folder: the root, or another folder of the base that the path is relative to.
        path: empty for the folder itself.
        sentence: what is wrong; quotes no text of a document.
    """

    code: Code
    folder: Path
    path: str
    sentence: str

    @property
    def place(self) -> str:
        """Absolute path."""
        return str(self.folder / self.path)

    @property
    def mend(self) -> str:
        """What to do, as one sentence."""
        return _MENDS[self.code]

    @property
    def is_mendable(self) -> bool:
        """Whether ``doctor.mend`` mends it without judging what a document says."""
        return self.code in MENDABLE
