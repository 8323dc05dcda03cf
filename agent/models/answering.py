"""How the offline model puts an answer, and reads what it asked and was told before."""

import json
import re
from collections.abc import Iterator
from typing import Any

from agent import blocks
from agent.models.interface import Reply, ToolCall
from agent.reading import FILE_LEAD
from core.acp import Usage

_FOUND_FILE = re.compile(rf"^{re.escape(FILE_LEAD)}(.+)$", re.MULTILINE)


def reply(turn: int, *calls: tuple[str, dict[str, Any]], text: str = "") -> Reply:
    """Answer with tool calls, by name and arguments; without any it is the last answer.

    Args:
        turn: answers given before, so that the ids of calls differ.
    """
    made = tuple(
        ToolCall(f"offline-{turn}-{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(calls)
    )
    return Reply(text, made, Usage(model_calls=1))


def path_of(call: ToolCall) -> str:
    """The document that a call of ours was about."""
    path: str = json.loads(call.arguments)["file_path"]
    return path


def found_documents(result: str) -> Iterator[tuple[str, str]]:
    """Path and matching lines of each document in what a search gave back."""
    listed = blocks.unwrap(blocks.MEMORY_DOCUMENT, result) or ""
    pieces = _FOUND_FILE.split(listed)[1:]
    return zip(pieces[::2], pieces[1::2], strict=True)
