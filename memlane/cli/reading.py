"""The work of ``memlane documents`` and ``memlane search``."""

import sys
from collections.abc import Callable, Sequence

from core.acp import Scope
from memlane.cli.connection import Place, connected
from memlane.cli.exits import Exit
from memlane.cli.revisions import document_of
from memlane.cli.task_output import printable
from memlane.models import Hit, StoredDocument


def list_documents(place: Place, *, scope: Scope | None, as_json: bool) -> Exit:
    """Print what memory holds, a document a line, or each as JSON on a line of its own.

    Raises:
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
    """
    with connected(place) as client:
        for document in client.documents(scope=scope, workspace=place.workspace):
            sys.stdout.write(document.to_json() + "\n" if as_json else _listed(document))
    return Exit.OK


def show_document(
    file: str,
    place: Place,
    *,
    as_json: bool,
    remark: Callable[[StoredDocument], Sequence[str]] = lambda _document: (),
) -> Exit:
    """Print the text of one document, ``<scope>/<path>``.

    Args:
        remark: lines to print below, from what was read.

    Raises:
        ConfigError: ``file`` names no scope and path.
        NotFound: there is no such document.
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
    """
    wanted = document_of(file)
    with connected(place) as client:
        document = client.document(wanted, workspace=place.workspace)
    lines = [*(document.content or "").splitlines(), *remark(document)]
    text = "".join(f"{printable(line)}\n" for line in lines)
    sys.stdout.write(document.to_json() + "\n" if as_json else text)
    return Exit.OK


def search(words: str, place: Place, *, scope: Scope | None, limit: int, as_json: bool) -> Exit:
    """Print the documents that hold words of a text, best first, or each as JSON on a line of its own.

    Raises:
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
    """
    with connected(place) as client:
        hits = client.search(words, scope=scope, limit=limit, workspace=place.workspace)
    sys.stdout.write("".join(hit.to_json() + "\n" if as_json else _found(hit) for hit in hits))
    return Exit.OK


def _listed(document: StoredDocument) -> str:
    waits = "  (waits for a review)" if document.under_review else ""
    return printable(f"{document.scope}/{document.path}  {document.name}{waits}") + "\n"


def _found(hit: Hit) -> str:
    snippet = " ".join(hit.snippet.split())
    return printable(f"{hit.scope}/{hit.path}  {hit.title}") + f"\n  {printable(snippet)}\n"
