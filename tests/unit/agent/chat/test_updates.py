import json
from typing import Any

import pytest

from agent.chat import updates
from agent.models.interface import ToolCall
from agent.tools import ToolResult


def called(name: str, arguments: Any) -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return updates.tool_call("call-1", ToolCall("1", name, written))


def test_a_tool_call_says_what_it_does_and_where() -> None:
    update = called("read_file", {"file_path": "/m/a.md"})

    assert (update["title"], update["kind"], update["locations"]) == (
        "Read /m/a.md",
        "read",
        [{"path": "/m/a.md"}],
    )
    assert update["rawInput"] == {"file_path": "/m/a.md"}


@pytest.mark.parametrize(
    "arguments", ["{broken", "[1]", "[" * 100_000, json.dumps({"path": "x" * 20_000}), ""]
)
def test_arguments_that_nobody_can_read_are_left_out(arguments: str) -> None:
    update = called("list_directory", arguments)

    assert (update["rawInput"], update["locations"]) == ({}, [])


def test_a_tool_that_there_is_not_has_a_short_title_on_one_line() -> None:
    update = called("rm\n" * 500, {})

    assert update["kind"] == "other"
    assert len(update["title"]) <= updates.MAX_TITLE_CHARACTERS
    assert update["title"].isprintable()


@pytest.mark.parametrize(("ok", "status"), [(True, "completed"), (False, "failed")])
def test_an_outcome_shows_the_beginning_of_what_the_tool_gave(ok: bool, status: str) -> None:
    update = updates.tool_call_update("call-1", ToolResult("x" * 50_000, ok=ok))

    assert update["status"] == status
    assert len(update["content"][0]["content"]["text"]) == updates.MAX_OUTPUT_CHARACTERS
