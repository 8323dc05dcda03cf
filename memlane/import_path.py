"""Keeps code of the folders that we run in out of the import path; loaded before anything else of ours.

A workspace may hold a ``core`` or ``web`` of its own, which would run in place of ours.
"""

import os
import sys
from pathlib import Path

_OURS = str(Path(__file__).parents[1])


def clean_import_path() -> None:
    """Take out what means the current folder; the folder that memlane was loaded from stays."""
    _leave_current_folder_out()
    _drop_relative_entries()


def _leave_current_folder_out() -> None:
    """Undo what ``python -m`` puts first, unless ``-P`` was given."""
    here = str(Path.cwd())
    if not sys.flags.safe_path and sys.path[:1] == [here] and here != _OURS:
        del sys.path[0]


def _drop_relative_entries() -> None:
    """Forget the relative entries of ``PYTHONPATH``, here and for every child.

    They mean the folder that a process happens to run in, which for an agent child is a workspace.
    """
    given = os.environ.pop("PYTHONPATH", "")
    if not given:
        return
    entries = given.split(os.pathsep)
    kept = [entry for entry in entries if Path(entry).is_absolute()]
    if kept:
        os.environ["PYTHONPATH"] = os.pathsep.join(kept)
    dropped = set(map(_as_python_does, entries)) - {_OURS, *map(_as_python_does, kept)}
    sys.path[:] = [entry for entry in sys.path if entry not in dropped]


def _as_python_does(entry: str) -> str:
    """How an entry of ``PYTHONPATH`` stands on the import path."""
    return os.path.abspath(entry)  # noqa: PTH100 - resolve() would follow links, which Python doesn't
