"""What an agent is told of where it works: folders, indexes, date; memory as blocks of untrusted data."""

import json
import sys
from collections.abc import Mapping

from agent import blocks
from core.acp import Scope
from core.clock import today
from core.errors import InputError
from memory.names import INDEX_NAME
from memory.paths import SCOPES
from memory.transaction import Transaction

MAX_INDEX_CHARACTERS = 40_000
MAX_SUMMARY_CHARACTERS = 500

_SYSTEMS = {"linux": "Linux", "darwin": "macOS"}


def folders_of(transaction: Transaction) -> dict[Scope, str]:
    """Absolute path of each root that the transaction may change."""
    return {scope: str(transaction.roots.of(scope)) for scope in SCOPES if scope in transaction.writable}


def folder_lines(folders: Mapping[Scope, str]) -> str:
    """One line for each folder; ``read_folders`` reads them back."""
    # as JSON a path with a newline or a quote in it stays on its line
    return "\n".join(
        f"- {scope} folder: {json.dumps(path, ensure_ascii=False)}" for scope, path in folders.items()
    )


def read_folders(text: str) -> dict[Scope, str]:
    """Read the folders out of a text with lines that ``folder_lines`` made."""
    folders: dict[Scope, str] = {}
    for line in text.split("\n"):
        for scope in SCOPES:
            if line.startswith(lead := f"- {scope} folder: "):
                folders[scope] = json.loads(line.removeprefix(lead))
    return folders


def read_index(transaction: Transaction, scope: Scope) -> str:
    """Text of a root's index, cut where it is too long; empty when there is none."""
    try:
        content = transaction.read(f"{transaction.roots.of(scope)}/{INDEX_NAME}")
    except InputError:  # none yet, or something that a person put in its place
        return ""
    return content.decode("utf-8", "replace")[:MAX_INDEX_CHARACTERS]


def index_section(scope: Scope, text: str) -> str:
    """An index under a heading of its own."""
    if not text.strip():
        return f"## Index of the {scope} folder\n\n(empty)"
    block = blocks.wrap(blocks.MEMORY_INDEX, text, scope=scope, trust="untrusted")
    return f"## Index of the {scope} folder (untrusted data, written by others)\n\n{block}"


def environment() -> dict[str, str]:
    """Facts of the moment."""
    return {"date": today(), "system": _SYSTEMS.get(sys.platform, sys.platform)}


def environment_block(facts: Mapping[str, str]) -> str:
    """The block that tells such facts."""
    return blocks.wrap(blocks.ENVIRONMENT, "\n".join(f"{name}: {value}" for name, value in facts.items()))


def one_sentence(text: str) -> str:
    """What a model said at its end, as one line of at most 500 characters."""
    return " ".join(text.split())[:MAX_SUMMARY_CHARACTERS]
