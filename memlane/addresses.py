"""Paths of the service's routes."""

from urllib.parse import quote

from core.ids import Kind
from core.text import well_formed
from memlane.models import Document

_KINDS_WITH_A_PATH: frozenset[Kind] = frozenset({"remember", "forget", "dream"})


def base_of(workspace: str | None) -> str:
    """Start of a workspace's paths; None means the primary one."""
    return "/workspace" if workspace is None else f"/workspaces/{segment(workspace)}"


def task_path(task_id: str, workspace: str | None) -> str:
    """Where a task is looked up."""
    kind = task_id.partition("-")[0]
    place = kind if kind in _KINDS_WITH_A_PATH else "tasks"
    return f"{base_of(workspace)}/memory/{place}/{segment(task_id)}"


def document_path(document: Document, workspace: str | None) -> str:
    """Where a document is read."""
    names = "/".join(map(segment, document.path.split("/")))
    return f"{base_of(workspace)}/memory/documents/{document.scope}/{names}"


def segment(text: str) -> str:
    """One segment of a path; a file name's bytes that are no UTF-8 travel as they are."""
    try:
        return quote(text, safe="", errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(well_formed(text), safe="")
