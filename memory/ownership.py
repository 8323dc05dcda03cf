"""Look for project folders that workspaces fight over or don't find, without changing anything."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from memory.beneath import list_folders, open_folder
from memory.errors import DocumentMissing, PathEscape, PathRefused, StoreUnusable
from memory.findings import Finding
from memory.paths import OWNER_NAME, PROJECT_ROOT_NAME, PROJECTS_NAME, project_names, read_owner

_NO_FOLDER = (DocumentMissing, PathEscape, PathRefused)


def list_projects(base: Path) -> list[str]:
    """Names of the project folders below a base, sorted."""
    try:
        with open_folder(base, (PROJECTS_NAME,)) as folder:
            return sorted(list_folders(folder))
    except _NO_FOLDER:
        return []


def project_findings(base: Path) -> Iterator[Finding]:
    """Tell which project folders are not what memlane would use for their workspace."""
    owned: defaultdict[str, list[str]] = defaultdict(list)
    for name in list_projects(base):
        try:
            owner = read_owner(base, name)
        except StoreUnusable:
            path = f"{name}/{OWNER_NAME}"
            sentence = "It can't be read, so no workspace can use this folder."
            yield Finding("owner_damaged", base / PROJECTS_NAME, path, sentence)
        except _NO_FOLDER:
            continue
        else:
            if owner is not None:
                owned[owner].append(name)
    for workspace, names in owned.items():
        yield from _owner_findings(base, workspace, names)


def _owner_findings(base: Path, workspace: str, names: list[str]) -> Iterator[Finding]:
    projects = base / PROJECTS_NAME
    used = next((name for name in project_names(workspace) if name in names), None)
    for name in names:
        if used is None:
            sentence = (
                f"It says that it belongs to {workspace!r}, which does not look for it under this name."
            )
            yield Finding("owner_misplaced", projects, name, sentence)
        elif name != used and _has_memory(projects / name):
            sentence = f"Like {used!r} it belongs to {workspace!r}; only that one is used."
            yield Finding("project_duplicate", projects, name, sentence)


def _has_memory(project: Path) -> bool:
    try:
        with open_folder(project, (PROJECT_ROOT_NAME,)):
            return True
    except _NO_FOLDER:
        return False
