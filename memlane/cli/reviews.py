"""The work of ``memlane review``."""

import shlex
import sys
from dataclasses import dataclass

from core.acp import ReviewDecision
from core.errors import ConfigError
from memlane.cli import reading
from memlane.cli.asking import run
from memlane.cli.connection import Place, connected
from memlane.cli.exits import Exit
from memlane.cli.revisions import document_of
from memlane.cli.task_output import printable
from memlane.client import Client
from memlane.models import StoredDocument, StoredDocuments, Task

SHOWN_DIGITS = 12  # of a hash; fewer are not taken for one


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person decided.

    Attributes:
        sha256: beginning of the digest of what they saw.
    """

    decision: ReviewDecision
    sha256: str


def show_waiting(place: Place, *, as_json: bool) -> Exit:
    """Print which documents wait, one a line.

    Raises:
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
    """
    with connected(place) as client:
        waiting = client.waiting(workspace=place.workspace)
    listed = "".join(f"{printable(_named(one))}\n" for one in waiting) or "nothing waits for a review\n"
    sys.stdout.write(StoredDocuments(documents=waiting).to_json() + "\n" if as_json else listed)
    return Exit.OK


def show_document(file: str, place: Place, *, as_json: bool) -> Exit:
    """Print a document with its text, and how to decide on it.

    Raises:
        MemlaneError: as for ``memlane.cli.reading.show_document``.
    """
    return reading.show_document(
        file, place, as_json=as_json, remark=lambda document: _how_to_decide(file, document)
    )


def decide(file: str, verdict: Verdict, place: Place, *, as_json: bool, wait_s: float | None) -> Exit:
    """Have a document approved or rejected.

    Raises:
        ConfigError: ``file`` names no scope and path, or the hash is not that of the document.
        MemlaneError: as for ``memlane.cli.asking.run``.
    """
    document = document_of(file)

    def ask(client: Client) -> Task:
        found = client.document(document, workspace=place.workspace)
        if len(verdict.sha256) < SHOWN_DIGITS or not (found.sha256 or "").startswith(verdict.sha256):
            raise ConfigError(f"{file} is not what that hash names; look at it again: memlane review {file}")
        return client.review(found, verdict.decision, workspace=place.workspace)

    return run(ask, place, as_json=as_json, wait_s=wait_s)


def _named(document: StoredDocument) -> str:
    return f"{document.scope}/{document.path}  {document.name}: {document.description}"


def _how_to_decide(file: str, document: StoredDocument) -> tuple[str, ...]:
    if not document.under_review:
        return ()
    digits, name = (document.sha256 or "")[:SHOWN_DIGITS], shlex.quote(file)
    return ("", f"It waits for a review: memlane review {name} --approve {digits}, or --reject {digits}")
