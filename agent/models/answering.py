"""How the offline model puts an answer, and reads the calls that it made before."""

import json
from typing import Any

from agent.models.interface import Reply, ToolCall
from core.acp import Usage


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
