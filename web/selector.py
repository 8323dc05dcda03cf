"""Which workspace a route means: the primary one, or the one that its path names."""

from urllib.parse import unquote

from core.workspaces import Workspace, Workspaces
from web.errors import WorkspaceMismatch


def rules_for(path: str) -> tuple[str, str]:
    """The two rules of a route below a workspace: for the primary, and for the one named by ``selector``."""
    return f"/workspace{path}", f"/workspaces/<selector>{path}"


def prefix_of(workspace: Workspace, *, named: bool) -> str:
    """Start of a workspace's paths, in the form that the request used."""
    return f"/workspaces/{workspace.id}" if named else "/workspace"


def select(workspaces: Workspaces, selector: str | None) -> Workspace:
    """Find the workspace that a route means.

    Args:
        selector: raw path segment, an id or a URL-encoded absolute path; None means the primary.

    Raises:
        WorkspaceMismatch: no configured workspace is meant.
    """
    if selector is None:
        return workspaces.primary
    return workspaces.by_id(selector) or _by_encoded_path(workspaces, selector)


def select_folder(workspaces: Workspaces, folder: str | None) -> Workspace:
    """Find the workspace that a session is asked for.

    Args:
        folder: absolute path as the request has it; None means the primary.

    Raises:
        WorkspaceMismatch: it leads to no configured workspace.
    """
    if folder is None:
        return workspaces.primary
    try:
        workspace = workspaces.by_path(folder)
    except ValueError:  # NUL, or no text that a path can be
        workspace = None
    if workspace is None:
        bound = workspaces.primary.path
        raise WorkspaceMismatch(
            f'Workspace mismatch: runtime is bound to "{bound}" but request asked for "{folder}". '
            f'Select a registered runtime for "{folder}" or register it before retrying; '
            "this bridge will not fall back to the primary workspace.",
            bound=bound,
            requested=folder,
        )
    return workspace


def _by_encoded_path(workspaces: Workspaces, selector: str) -> Workspace:
    path = unquote(selector, errors="surrogateescape")
    if not path.startswith("/") or "\0" in path:
        raise WorkspaceMismatch("`:workspace` must decode to a workspace id or absolute path")
    workspace = workspaces.by_path(path)
    if workspace is None:
        raise WorkspaceMismatch(
            "Workspace mismatch: the requested workspace is not registered with this daemon.",
            workspace_count=len(workspaces),
        )
    return workspace
