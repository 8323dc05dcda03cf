"""Who runs on a home folder: a note for the next one that tries."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from memlane.folders import clear_path_errors


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A running ``memlane up``.

    Attributes:
        workspaces: absolute paths, the primary one first; empty when that can't be told.
    """

    pid: int
    url: str
    workspaces: tuple[str, ...] = ()


@contextmanager
def recorded(home: Path, url: str, workspaces: Iterable[str]) -> Iterator[None]:
    """Keep the record of this process in ``<home>/run.json``, mode 0600, for as long as the body runs.

    Only the holder of the home's lock may do so. A record that a killed process left is overwritten.

    Raises:
        ConfigError: it can't be written.
    """
    path = _path(home)
    draft = path.with_suffix(".new")
    with clear_path_errors(path):
        draft.unlink(missing_ok=True)
        draft.touch(0o600, exist_ok=False)
        draft.write_text(json.dumps(asdict(RunRecord(os.getpid(), url, tuple(workspaces)))) + "\n")
        draft.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def read_run_record(home: Path) -> RunRecord | None:
    """Read who runs on a home folder; None if that can't be told."""
    try:
        facts = json.loads(_path(home).read_text())
        workspaces = tuple(str(one) for one in facts.get("workspaces", ()))
        return RunRecord(int(facts["pid"]), str(facts["url"]), workspaces)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _path(home: Path) -> Path:
    return home / "run.json"
