"""What is kept of a root's last dream, in ``meta.json``, which other programs read and write too."""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.acp import Scope
from core.clock import rfc3339, wall_ms
from core.errors import InputError
from memory.beneath import disk_errors, open_folder, unlink_if_there
from memory.content import read_regular, write_new
from memory.errors import DocumentMissing, StoreUnusable
from memory.files import STORE_NAME
from memory.paths import Roots

META_NAME = "meta.json"
MAX_META_BYTES = 1024 * 1024
_VERSION = 1
_OURS, _INPUT = "memlane", "dreamInput"


@dataclass(frozen=True, slots=True)
class DreamRecord:
    """A dream that came to its end.

    Attributes:
        input_digest: of all that a dream looks at, as the dream left it.
        touched_topics: types of the documents that it changed; none for a dream that changed nothing.
    """

    input_digest: str
    touched_topics: tuple[str, ...]


def dream_folder(roots: Roots, scope: Scope) -> Path:
    """Where a root's record is: beside a project's root, in the store for the user's."""
    return roots.project.parent if scope == "project" else roots.user.parent / STORE_NAME


def recorded_input(folder: Path) -> str | None:
    """Digest of what the last dream left; None when there was none, or its record can't be read."""
    try:
        meta = _read(folder) or {}
    except StoreUnusable:
        return None
    ours = meta.get(_OURS)
    digest = ours.get(_INPUT) if isinstance(ours, dict) else None
    return digest if isinstance(digest, str) else None


def record_dream(folder: Path, record: DreamRecord) -> None:
    """Write down a dream; whatever else the record holds stays.

    Raises:
        StoreUnusable: the disk failed, or what stands there is no record, which stays as it is.
    """
    meta = _read(folder)
    now = rfc3339(wall_ms())
    fresh = {"version": _VERSION, "createdAt": now} if meta is None else {}
    ours = (meta or {}).get(_OURS)
    changed = {
        "updatedAt": now,
        "lastDreamAt": now,
        "lastDreamTouchedTopics": list(record.touched_topics),
        "lastDreamStatus": "updated" if record.touched_topics else "noop",
        _OURS: (ours if isinstance(ours, dict) else {}) | {_INPUT: record.input_digest},
    }
    _replace(folder, fresh | (meta or {}) | changed)


def _read(folder: Path) -> dict[str, Any] | None:
    try:
        with disk_errors(META_NAME), open_folder(folder) as opened:
            content = read_regular(opened, META_NAME, max_bytes=MAX_META_BYTES)
        meta = json.loads(content)
    except DocumentMissing:
        return None
    except (InputError, ValueError, RecursionError) as error:
        raise StoreUnusable(f"{META_NAME} is damaged") from error
    if not isinstance(meta, dict):
        raise StoreUnusable(f"{META_NAME} is damaged")
    return meta


def _replace(folder: Path, meta: Mapping[str, Any]) -> None:
    draft = f"{META_NAME}.{secrets.token_hex(8)}.tmp"
    content = json.dumps(meta, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass")
    try:
        with disk_errors(META_NAME), open_folder(folder) as opened:
            try:
                write_new(opened, draft, content)
                os.replace(draft, META_NAME, src_dir_fd=opened, dst_dir_fd=opened)
                os.fsync(opened)
            finally:
                unlink_if_there(opened, draft)
    except InputError as error:
        raise StoreUnusable(f"{META_NAME}: {error}") from error
