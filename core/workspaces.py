"""The directories that the service is configured to serve."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import ConfigError
from core.ids import WorkspaceId, workspace_id


@dataclass(frozen=True, slots=True)
class Workspace:
    """One configured directory.

    Attributes:
        path: canonical absolute path.
        primary: whether ``/workspace/…`` routes mean this one.
    """

    id: WorkspaceId
    path: str
    primary: bool


class Workspaces:
    """The configured workspaces, first one primary."""

    def __init__(self, paths: Iterable[str]) -> None:
        """Canonicalise the paths and drop repeats.

        Raises:
            ConfigError: none given, or one that is not an existing directory.
        """
        found = dict.fromkeys(_canonical(path) for path in paths)
        if not found:
            raise ConfigError("no workspace is configured; name one with --workspace or MEMLANE_WORKSPACES")
        self._all = tuple(Workspace(workspace_id(path), path, index == 0) for index, path in enumerate(found))
        self._by_id = {workspace.id: workspace for workspace in self._all}

    @property
    def primary(self) -> Workspace:
        """The first configured workspace."""
        return self._all[0]

    def by_id(self, selector: str) -> Workspace | None:
        """The workspace with this id, if it is configured."""
        return self._by_id.get(WorkspaceId(selector))

    def by_path(self, path: str) -> Workspace | None:
        """The workspace that an absolute path leads to, links followed, if it is configured.

        Raises:
            ValueError: the path holds NUL.
        """
        return self._by_id.get(workspace_id(os.path.realpath(path)))

    def __iter__(self) -> Iterator[Workspace]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def _canonical(path: str) -> str:
    real = Path(path).expanduser()
    try:
        real = real.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise ConfigError(f"workspace {path!r} does not exist") from None
    if not real.is_dir():
        raise ConfigError(f"workspace {path!r} is not a directory")
    return str(real)
