"""The directories that the service is configured to serve."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from core.errors import ConfigError, InputError
from core.ids import WorkspaceId, workspace_id


class WorkspaceMismatch(InputError):
    """The selector names no configured workspace. Nothing was changed.

    Attributes:
        workspace_count: how many workspaces this service serves; None when the
            selector is neither an id nor an absolute path.
    """

    code = "workspace_mismatch"

    def __init__(self, message: str, *, workspace_count: int | None = None) -> None:
        super().__init__(message)
        self.workspace_count = workspace_count


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

    def select(self, raw_selector: str) -> Workspace:
        """Find a workspace by id or by URL-encoded absolute path (one raw path segment).

        Raises:
            WorkspaceMismatch: no configured workspace is meant.
        """
        workspace = self.by_id(raw_selector)
        if workspace is not None:
            return workspace
        path = unquote(raw_selector, errors="surrogateescape")
        if not path.startswith("/") or "\0" in path:
            raise WorkspaceMismatch("`:workspace` must decode to a workspace id or absolute path")
        workspace = self.by_id(workspace_id(os.path.realpath(path)))
        if workspace is None:
            raise WorkspaceMismatch(
                "Workspace mismatch: the requested workspace is not registered with this daemon.",
                workspace_count=len(self),
            )
        return workspace

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
