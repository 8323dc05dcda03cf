"""How a workspace is named on the command line."""

from pathlib import Path

from core.ids import is_workspace_id


def selector_of(given: str) -> str:
    """The id or absolute path that was meant; a relative path starts at the current folder."""
    return given if is_workspace_id(given) else str(Path(given).expanduser().absolute())
