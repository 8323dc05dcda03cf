"""Names in folders as file systems that don't tell case or Unicode forms apart would take them."""

import os

from core import clock
from memory.lines import SETTLED_MS
from memory.names import fold, refuse_twin
from memory.scan import list_names

_Version = tuple[int, ...]


class FoldedNames:
    """Finds twins of new names; a folder that stays as it is gets listed once for all of them."""

    def __init__(self) -> None:
        self._known: dict[_Version, dict[str, str]] = {}

    def refuse_twin(self, folder: int, name: str) -> None:
        """Refuse a new name beside an existing one that differs only by case or Unicode form.

        Args:
            folder: descriptor of an open folder.

        Raises:
            PathRefused: names the existing one.
        """
        twin = self._names_in(folder).get(fold(name))
        if twin is not None:
            refuse_twin(name, [twin])

    def _names_in(self, folder: int) -> dict[str, str]:
        found = os.fstat(folder)
        version = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
        if version in self._known:
            return self._known[version]
        names = {fold(entry.name): entry.name for entry in list_names(folder)}
        # of one that was changed a moment ago a second change might leave the same times
        if abs(clock.wall_ms() - found.st_ctime_ns // 1_000_000) >= SETTLED_MS:
            self._known[version] = names
        return names
