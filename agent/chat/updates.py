"""What a client is told of a prompt that is being answered: ``session/update`` of ACP, rendered."""

import json
from collections.abc import Mapping
from typing import Any

from agent.models.interface import Message, ToolCall
from agent.reading import printable
from agent.tools import GREP_SEARCH, LIST_DIRECTORY, READ_FILE, ToolResult

MAX_TITLE_CHARACTERS = 200
MAX_INPUT_CHARACTERS = 10_000
MAX_OUTPUT_CHARACTERS = 10_000

_KINDS: Mapping[str, str] = {READ_FILE: "read", LIST_DIRECTORY: "read", GREP_SEARCH: "search"}
_VERBS: Mapping[str, str] = {READ_FILE: "Read", LIST_DIRECTORY: "List", GREP_SEARCH: "Search memory for"}
_OBJECTS: Mapping[str, str] = {READ_FILE: "file_path", LIST_DIRECTORY: "path", GREP_SEARCH: "pattern"}


def message_chunk(text: str) -> dict[str, Any]:
    """A piece of the agent's answer."""
    return {"sessionUpdate": "agent_message_chunk", "content": _text(text)}


def said_before(message: Message) -> dict[str, Any]:
    """What the client or the agent said in a session that is loaded."""
    kind = "user_message_chunk" if message.role == "user" else "agent_message_chunk"
    return {"sessionUpdate": kind, "content": _text(message.text)}


def tool_call(call_id: str, call: ToolCall) -> dict[str, Any]:
    """A tool begins to run."""
    given = _arguments(call)
    path = given.get("file_path", given.get("path"))
    places = [{"path": path}] if isinstance(path, str) and path.startswith("/") else []
    return {
        "sessionUpdate": "tool_call",
        "toolCallId": call_id,
        "title": _title(call.name, given),
        "kind": _KINDS.get(call.name, "other"),
        "status": "in_progress",
        "locations": places,
        "rawInput": given,
    }


def tool_call_update(call_id: str, result: ToolResult) -> dict[str, Any]:
    """A tool has run; long output is cut."""
    return {
        "sessionUpdate": "tool_call_update",
        "toolCallId": call_id,
        "status": "completed" if result.ok else "failed",
        "content": [{"type": "content", "content": _text(result.text[:MAX_OUTPUT_CHARACTERS])}],
    }


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _title(name: str, given: Mapping[str, Any]) -> str:
    verb, what = _VERBS.get(name, "Call"), given.get(_OBJECTS.get(name, ""), name)
    return printable(f"{verb} {what}")[:MAX_TITLE_CHARACTERS]


def _arguments(call: ToolCall) -> dict[str, Any]:
    """Arguments as the model wrote them; none where they don't parse, or are long."""
    if len(call.arguments) > MAX_INPUT_CHARACTERS:
        return {}
    try:
        given = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}
