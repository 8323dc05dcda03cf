"""The work of ``memlane history`` and ``memlane diff``."""

import sys
from typing import get_args

from core.acp import Scope
from core.errors import ConfigError
from memlane.cli.connection import Place, connected
from memlane.cli.exits import Exit
from memlane.cli.task_output import diff_text, printable
from memlane.models import Document, Revision


def show_history(file: str | None, place: Place, *, limit: int, as_json: bool) -> Exit:
    """Print revisions, newest first, one a line with the documents below it.

    Args:
        file: ``<scope>/<path>`` of one document; None means all.

    Raises:
        ConfigError: ``file`` names no scope and path.
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
    """
    document = None if file is None else document_of(file)
    with connected(place) as client:
        page = client.revision_page(limit=limit, document=document, workspace=place.workspace)
    sys.stdout.write(page.to_json() + "\n" if as_json else "".join(map(_told, page.revisions)))
    return Exit.OK


def show_diff(revision: str, place: Place, *, as_json: bool) -> Exit:
    """Print what a revision changed.

    Raises:
        NotFound: there is no such revision.
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
    """
    with connected(place) as client:
        found = client.revision(revision, workspace=place.workspace)
    text = _told(found) + "".join(map(diff_text, found.diff))
    sys.stdout.write(found.to_json() + "\n" if as_json else text)
    return Exit.OK


def document_of(file: str) -> Document:
    """The document that ``<scope>/<path>`` names.

    Raises:
        ConfigError: it names no scope and path.
    """
    named, _, path = file.partition("/")
    for scope in get_args(Scope):
        if scope == named and path:
            return Document(scope=scope, path=path)
    raise ConfigError(f"{file!r} is no scope and path, such as user/user/tea.md")


def _told(revision: Revision) -> str:
    when = revision.committed_at.astimezone().strftime("%Y-%m-%d %H:%M")
    asked = f" by {revision.client_id}" if revision.client_id else ""
    head = f"{revision.revision}  {when}  {revision.kind}{asked}: {revision.summary}"
    lines = [head, *(f"  {one.scope}/{one.path}" for one in revision.documents)]
    return "".join(f"{printable(line)}\n" for line in lines)
