"""Foreign bytes that a commit displaced: kept in the store, never lost."""

import json
import os
import secrets
import stat
from typing import Any

from core import clock
from memory.beneath import create_file, open_file, stat_of, unlink_if_there
from memory.descriptors import read_chunks, write_all
from memory.files import StoreFiles

_FOLDER = "external"


class ExternalRecords:
    """Writes ``external/<id>.bytes`` (a whole copy) and then ``external/<id>.json`` (what it is)."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files

    def keep(self, folder: int, name: str, *, label: str) -> None:
        """Copy what stands at a name durably; a link or special file is described instead.

        Args:
            folder: descriptor of the folder that holds it.
            label: path of the document whose place it had.
        """
        record_id = f"{clock.wall_ms()}-{secrets.token_hex(8)}"
        found = stat_of(folder, name)
        facts: dict[str, Any] = {"path": label, "at": clock.rfc3339(clock.wall_ms())}
        if found is not None and stat.S_ISREG(found.st_mode):
            facts["size_bytes"] = self._copy(folder, name, f"{record_id}.bytes")
        elif found is not None and stat.S_ISLNK(found.st_mode):
            facts["link_to"] = os.readlink(name, dir_fd=folder)
        self._files.create(_FOLDER, f"{record_id}.json", json.dumps(facts).encode())

    def _copy(self, folder: int, name: str, copy_name: str) -> int:
        with open_file(folder, name) as source, self._files.open(_FOLDER) as target_folder:
            return _copy_to(source, target_folder, copy_name)


def _copy_to(source: int, folder: int, name: str) -> int:
    size_bytes = 0
    with create_file(folder, name) as target:
        try:
            for chunk in read_chunks(source):
                write_all(target, chunk)
                size_bytes += len(chunk)
            os.fsync(target)
        except OSError:
            unlink_if_there(folder, name)
            raise
    return size_bytes
