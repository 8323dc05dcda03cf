"""Where memory lives: the roots of a workspace below one base."""

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from core.acp import Scope
from core.errors import InputError
from memory.beneath import disk_errors, open_folder, unlink_if_there
from memory.content import read_regular, write_new
from memory.errors import DocumentMissing, StoreUnusable
from memory.renames import Renames

SCOPES: tuple[Scope, ...] = get_args(Scope)
OWNER_NAME = "memlane-owner.json"
USER_ROOT_NAME = "memories"
PROJECTS_NAME = "projects"
PROJECT_ROOT_NAME = "memory"
LOCAL_ROOT = (".qwen", "memory")  # below a workspace
_MAX_SLUG_CHARS = 230
_MAX_OWNER_BYTES = 64 * 1024
_NO_WORD = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Roots:
    """The two memory roots of one workspace, canonical absolute paths."""

    user: Path
    project: Path

    def of(self, scope: Scope) -> Path:
        """The root of this scope."""
        return self.user if scope == "user" else self.project


def find_roots(base: Path, workspace: str, *, local: bool = False) -> Roots:
    """Find the memory roots of a workspace and create them (0700) when they are missing.

    A workspace whose slug is taken by another one gets a folder of its own, so the two never share memory.

    Args:
        base: the memory base, an existing folder.
        workspace: canonical absolute path of the workspace, an existing folder.
        local: keep project memory in ``<workspace>/.qwen/memory``.

    Raises:
        StoreUnusable: base or workspace is missing, a step below them is a link, or a folder can't be
            made; folders made so far stay.
    """
    base = canonical_folder(base, "memory base")
    project_anchor = canonical_folder(Path(workspace), "workspace")
    project = (project_anchor, LOCAL_ROOT) if local else (base, _project_parts(base, workspace))
    return Roots(user=_make(base, (USER_ROOT_NAME,)), project=_make(*project))


def locate_roots(base: Path, workspace: str, *, local: bool = False) -> Roots:
    """Tell where the memory roots of a workspace are, or would be made; makes nothing.

    Args:
        base, workspace, local: as for ``find_roots``; the workspace need not exist any more.

    Raises:
        StoreUnusable: base is missing, or a record of ownership is damaged.
    """
    base = canonical_folder(base, "memory base")
    below = (PROJECTS_NAME, _name_to_be(base, workspace), PROJECT_ROOT_NAME)
    project = Path(workspace, *LOCAL_ROOT) if local else base.joinpath(*below)
    return Roots(user=base / USER_ROOT_NAME, project=project)


def _name_to_be(base: Path, workspace: str) -> str:
    plain, other = project_names(workspace)
    try:
        owner = read_owner(base, plain)
    except InputError:  # nothing there yet, or nothing that a project folder could be
        return plain
    return plain if owner in {None, workspace} else other


def root_name(base: Path, root: Path) -> str:
    """How the journal writes a root: relative to the base where it lies below it, so that a base can move."""
    return str(root.relative_to(base)) if root.is_relative_to(base) else str(root)


def root_names(base: Path, roots: Roots) -> tuple[str, ...]:
    """How the journal writes both roots, in the order of ``SCOPES``."""
    return tuple(root_name(base, roots.of(scope)) for scope in SCOPES)


def canonical_folder(path: Path, what: str) -> Path:
    """Resolve an existing folder.

    Raises:
        StoreUnusable: it is missing, no folder, or links to itself.
    """
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreUnusable(f"the {what} {str(path)!r} does not exist") from error
    if not real.is_dir():
        raise StoreUnusable(f"the {what} {str(path)!r} is not a folder")
    return real


def slug(workspace: str) -> str:
    """Name of a workspace's project folder: ``-`` for each UTF-16 unit outside ``A-Za-z0-9``.

    One too long for a file system is cut and gets 8 hex digits of the path's SHA-256.
    """
    units = _NO_WORD.sub(lambda match: "-" if ord(match[0]) <= 0xFFFF else "--", workspace)
    return units if len(units) <= _MAX_SLUG_CHARS else _with_hash(units[:_MAX_SLUG_CHARS], workspace)


def _with_hash(name: str, workspace: str) -> str:
    whole = hashlib.sha256(workspace.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{name}-{whole[:8]}"


def project_names(workspace: str) -> tuple[str, str]:
    """Names that the project folder of a workspace may have: its slug, and the one for when that is taken."""
    plain = slug(workspace)
    return plain, _with_hash(plain, workspace)


def find_project(base: Path, workspace: str) -> Path | None:
    """Find the project root of a workspace below the base, without making or claiming it.

    Returns:
        None when the workspace has none yet.

    Raises:
        StoreUnusable: an owner record on the way is damaged.
    """
    for name in project_names(workspace):
        try:
            owner = read_owner(base, name)
        except InputError:
            return None
        if owner in {None, workspace}:
            return base.joinpath(PROJECTS_NAME, name, PROJECT_ROOT_NAME)
    return None


def read_owner(base: Path, name: str) -> str | None:
    """Workspace that a project folder belongs to; None while nobody has claimed it.

    Raises:
        DocumentMissing, PathEscape, PathRefused: there is no such folder, or a link or file in its place.
        StoreUnusable: its owner record is damaged.
    """
    with open_folder(base, (PROJECTS_NAME, name)) as folder:
        return _read_owner(folder)


def _project_parts(base: Path, workspace: str) -> tuple[str, ...]:
    for name in project_names(workspace):
        if _claim(base, name, workspace):
            return PROJECTS_NAME, name, PROJECT_ROOT_NAME
    raise StoreUnusable(f"the project folder of {workspace!r} belongs to another workspace")


def _claim(base: Path, name: str, workspace: str) -> bool:
    """Become or be the owner of a project folder; whoever comes first keeps it."""
    with _below(base, (PROJECTS_NAME, name)) as folder:
        owner = _read_owner(folder)
        if owner is None:
            draft = f"{OWNER_NAME}.{secrets.token_hex(8)}.tmp"
            try:
                write_new(folder, draft, json.dumps({"workspace": workspace}).encode())
                Renames().place(folder, draft, OWNER_NAME)
                os.fsync(folder)
            finally:
                unlink_if_there(folder, draft)
            owner = _read_owner(folder)
    return owner == workspace


def _read_owner(folder: int) -> str | None:
    try:
        content = read_regular(folder, OWNER_NAME, max_bytes=_MAX_OWNER_BYTES)
        return str(json.loads(content)["workspace"])
    except DocumentMissing:
        return None
    except (ValueError, KeyError, TypeError, InputError) as error:
        raise StoreUnusable(f"{OWNER_NAME} is damaged") from error


def _make(anchor: Path, parts: tuple[str, ...]) -> Path:
    root = anchor.joinpath(*parts)
    try:
        str(root).encode()
    except UnicodeEncodeError as error:
        raise StoreUnusable(f"the path {str(root)!r} is not UTF-8") from error
    with _below(anchor, parts):
        return root


@contextmanager
def _below(anchor: Path, parts: tuple[str, ...]) -> Iterator[int]:
    shown = anchor.joinpath(*parts)
    try:
        with disk_errors(str(shown)), open_folder(anchor, parts, create=True) as folder:
            yield folder
    except InputError as error:
        raise StoreUnusable(f"{shown}: {error}") from error
