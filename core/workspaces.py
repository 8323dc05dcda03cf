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

    def __init__(self, paths: Iterable[str], *, must_exist: bool = True) -> None:
        """Canonicalise the paths and drop repeats.

        Args:
            must_exist: whether a missing directory is refused. One that vanishes while the service runs must
                not keep the others from being served.

        Raises:
            ConfigError: none given, or one that is not an existing directory.
        """
        found = dict.fromkeys(_canonical(path, must_exist=must_exist) for path in paths)
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


def _canonical(path: str, *, must_exist: bool) -> str:
    real = Path(path).expanduser()
    try:
        real = real.resolve(strict=must_exist)
    except (OSError, RuntimeError, ValueError):
        raise ConfigError(f"workspace {path!r} does not exist") from None
    try:
        str(real).encode()
    except UnicodeEncodeError:
        raise ConfigError(f"workspace {path!r} has bytes in its path that are not UTF-8") from None
    if must_exist and not real.is_dir():
        raise ConfigError(f"workspace {path!r} is not a directory")
    return str(real)
