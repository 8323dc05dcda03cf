"""Find what is wrong with a memory base, and mend what needs no judgement."""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from core.errors import InputError
from core.logs import get_logger
from memory.apply import find_drift
from memory.beneath import (
    FILE_MODE,
    FOLDER_MODE,
    disk_errors,
    list_folders,
    list_regular,
    open_folder,
    set_mode,
    stat_of,
    unlink_if_there,
)
from memory.checkup import SETTLED_MS, Checkup, mode_findings
from memory.errors import DocumentMissing, StoreUnusable
from memory.external import ExternalRecords
from memory.files import STORE_NAME, StoreFiles
from memory.findings import Finding
from memory.identity import parse_store_id, read_store_id
from memory.journal import Journal
from memory.ownership import list_projects, project_findings
from memory.paths import (
    LOCAL_ROOT,
    PROJECT_ROOT_NAME,
    PROJECTS_NAME,
    USER_ROOT_NAME,
    canonical_folder,
    find_project,
    root_name,
)
from memory.renames import Renames
from memory.store import Store

_OURS_ALONE = (".part", ".index")  # their bytes are in the journal, or made again from the documents
_log = get_logger(__name__)


def all_roots(base: Path) -> tuple[Path, ...]:
    """The user root and the root of every project folder below a base, there or not."""
    projects = base / PROJECTS_NAME
    return base / USER_ROOT_NAME, *(projects / name / PROJECT_ROOT_NAME for name in list_projects(base))


def workspace_roots(base: Path, workspace: str, *, local: bool = False) -> tuple[Path, ...]:
    """The user root and the root of one workspace as far as it has one; nothing is made.

    Args:
        workspace: canonical absolute path.
        local: project memory is kept in the workspace.
    """
    try:
        project = Path(workspace).joinpath(*LOCAL_ROOT) if local else find_project(base, workspace)
    except StoreUnusable:
        project = None  # its owner record is damaged, which is a finding of its own
    return base / USER_ROOT_NAME, *([project] if project is not None else [])


def examine(base: Path, roots: Iterable[Path], *, settled_ms: int = SETTLED_MS) -> tuple[Finding, ...]:
    """Look for trouble in a memory base; changes nothing and takes no lock.

    A commit that is going on may show for a moment as a wrong index.

    Args:
        base: canonical path of the memory base.
        roots: those to look at; one that is not there has no findings.
        settled_ms: temporary files that were touched less than this ago are left alone.
    """
    roots = tuple(roots)
    blocked, of_store = _look_at_store(base, roots)
    of_roots = chain.from_iterable(_root_findings(root, settled_ms) for root in roots)
    wanted = (one for one in of_roots if one.code != "temporary_left" or one.folder not in blocked)
    return (*of_store, *project_findings(base), *wanted)


def mend(base: Path, findings: Iterable[Finding]) -> None:
    """Mend the findings that are mendable; look again to see what is left. What fails is logged.

    Permissions are taken away; indexes are made again and left-over temporary files removed under the lock
    of the store, after everything committed is in its place. A temporary file that may hold what somebody
    else wrote is kept in the store (``external/``).

    Raises:
        StoreUnusable: there is no store below the base, or it is damaged. Permissions are mended by then.
        StoreBusy: its lock was not free within 10 s; as above.
    """
    findings = tuple(findings)
    for finding in findings:
        if finding.code == "mode":
            _attempt(_mend_mode, finding)
    drifted = {one.folder for one in findings if one.code in {"index_drift", "index_dangling"}}
    left_behind = [one for one in findings if one.code == "temporary_left"]
    if drifted or left_behind:
        store = _open_present_store(base)
        with disk_errors("the memory folders"):
            find_drift(drifted)  # reads the documents before the lock is taken, not under it
        with store.tidied() as held:
            _remove_temporaries(base, left_behind)
            for root in drifted:
                held.applier.rebuild_index(root)


def _look_at_store(base: Path, roots: Collection[Path]) -> tuple[frozenset[Path], tuple[Finding, ...]]:
    """Which roots wait for a committed change, and what is wrong with the store itself."""
    store = base / STORE_NAME
    try:
        open_roots = Journal(StoreFiles(base)).open_roots()
    except StoreUnusable as error:
        return frozenset(roots), (Finding("store_damaged", store, "", f"It can't be used: {error}."),)
    blocked = frozenset(root for root in roots if root_name(base, root) in open_roots)
    sentence = "A committed change could not be put into its place here, so no other is made."
    waiting = (Finding("root_blocked", root, "", sentence) for root in sorted(blocked))
    return blocked, (*waiting, *_store_mode_findings(store))


def _store_mode_findings(store: Path) -> Iterator[Finding]:
    try:
        with open_folder(store) as folder:
            yield from mode_findings(store, "", os.fstat(folder))
            for name in sorted([*list_folders(folder), *list_regular(folder)]):
                found = stat_of(folder, name)
                if found is not None:
                    yield from mode_findings(store, name, found)
    except DocumentMissing:
        return


def _root_findings(root: Path, settled_ms: int) -> Iterator[Finding]:
    try:
        yield from Checkup(root, settled_ms=settled_ms).findings()
    except (InputError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        yield Finding("unreadable", root, "", f"It can't be looked at: {reason}.")


def _mend_mode(finding: Finding) -> None:
    place = Path(finding.place)
    with open_folder(place.parent) as folder:
        found = stat_of(folder, place.name)
        if found is not None:
            set_mode(folder, place.name, FOLDER_MODE if stat.S_ISDIR(found.st_mode) else FILE_MODE)


def _open_present_store(base: Path) -> Store:
    """Open the store of a memory base, whichever it is, and never make one.

    Raises:
        StoreUnusable: there is none, or it is damaged.
    """
    files = StoreFiles(canonical_folder(base, "memory base"))
    with disk_errors("the memory store"):
        content = read_store_id(files)
    if content is None:
        raise StoreUnusable(f"there is no memory store below {files.base} yet; the first task makes one")
    return Store(files, store_id=parse_store_id(content), renames=Renames())


def _remove_temporaries(base: Path, findings: Iterable[Finding]) -> None:
    files = StoreFiles(base)
    external, journal = ExternalRecords(files), Journal(files)
    needed, newest = journal.open_roots(), journal.newest_seq()
    for finding in findings:
        if root_name(base, finding.folder) not in needed:
            _attempt(lambda one: _remove_temporary(one, external, seq=newest), finding)


def _remove_temporary(finding: Finding, external: ExternalRecords, *, seq: int) -> None:
    place = Path(finding.place)
    with open_folder(place.parent) as folder:
        if not place.name.endswith(_OURS_ALONE) and stat_of(folder, place.name) is not None:
            external.keep(folder, place.name, label=finding.place, seq=seq)
        unlink_if_there(folder, place.name)


def _attempt(action: Callable[[Finding], None], finding: Finding) -> None:
    try:
        action(finding)
    except (InputError, OSError) as error:
        _log.warning("not_mended", code=finding.code, path=finding.place, reason=str(error))
