import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from agent.models.interface import ToolCall
from agent.provenance import source_of, stamp_documents, stays_valid
from core.ids import ClientId, LaneId, TaskId
from memory.document import parse_document
from memory.errors import DocumentInvalid
from memory.frontmatter import MAX_HEADER_BYTES
from memory.paths import Roots
from memory.store import FencedTask
from memory.validation import MAX_FILE_BYTES
from tests.support.scripted_model import document
from tests.support.tool_run import ToolRun

RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def test_a_new_document_gets_creation_change_and_source(tool_run: ToolRun) -> None:
    written = write(tool_run, f"{tool_run.roots.user}/a.md", document())

    fields = parse_document(written)
    assert fields is not None
    assert RFC3339.fullmatch(fields.extra["created"])
    assert fields.extra["modified"] == fields.extra["created"]
    assert fields.extra["source"] == f"task={tool_run.task.id} client=web:1 kind=remember"


def test_an_updated_document_keeps_its_creation_even_if_the_model_dropped_it(
    tool_run: ToolRun, roots: Roots
) -> None:
    old = document().replace("name:", "created: 2020-01-01T00:00:00.000Z\nname:")
    (roots.user / "a.md").write_text(old)

    written = write(tool_run, f"{roots.user}/a.md", document(body="New."), read_first=True)

    fields = parse_document(written)
    assert fields is not None
    assert fields.extra["created"] == "2020-01-01T00:00:00.000Z"
    assert fields.extra["modified"] > "2020-01-01"


def test_an_old_document_without_creation_is_given_none(tool_run: ToolRun, roots: Roots) -> None:
    (roots.user / "a.md").write_text(document())

    written = write(tool_run, f"{roots.user}/a.md", document(body="New."), read_first=True)

    assert b"created" not in written
    assert b"modified" in written


def test_every_other_byte_stays(tool_run: ToolRun, roots: Roots) -> None:
    header = b"type: user\r\n# note\r\nname: N\r\nx-y: [1]\r\ndescription: d\r\n"
    original = b"\xef\xbb\xbf---\r\n" + header + b"---\r\nbody \xe2\x80\xa8 end"
    (roots.user / "a.md").write_bytes(original.replace(b"body", b"text"))

    written = write(tool_run, f"{roots.user}/a.md", original.decode(), read_first=True)

    kept = [line for line in written.split(b"\r\n") if not line.startswith((b"modified:", b"source:"))]
    assert b"\r\n".join(kept) == original


def test_a_document_rewritten_with_the_same_bytes_gets_no_stamp(tool_run: ToolRun, roots: Roots) -> None:
    (roots.user / "a.md").write_text(document())
    tool_run.call("read_file", json.dumps({"file_path": f"{roots.user}/a.md"}))
    tool_run.call("write_file", json.dumps({"file_path": f"{roots.user}/a.md", "content": document()}))

    stamp_documents(tool_run.transaction, tool_run.task)

    assert tool_run.transaction.changes == ()


@pytest.mark.parametrize("filling", ["header", "body"])
def test_a_document_that_is_full_without_its_stamp_is_refused_by_the_tool(
    tool_run: ToolRun, filling: str
) -> None:
    path = f"{tool_run.roots.user}/a.md"

    refused = tool_run.call("write_file", json.dumps({"file_path": path, "content": full_document(filling)}))

    assert not refused.ok
    assert "with the frontmatter lines for creation, change and source" in refused.text
    assert not tool_run.tools.saved
    assert tool_run.transaction.validate() == ()
    with pytest.raises(DocumentInvalid):
        raise tool_run.tools.problems[0]


@pytest.mark.parametrize("filling", ["header", "body"])
def test_what_the_tool_accepted_stays_valid_with_its_stamp(tool_run: ToolRun, filling: str) -> None:
    path = f"{tool_run.roots.user}/a.md"
    sizes = [
        size
        for size in range(120, 260, 4)
        if tool_run.call(
            "write_file", json.dumps({"file_path": path, "content": full_document(filling, room=size)})
        ).ok
    ]
    tool_run.call(
        "write_file", json.dumps({"file_path": path, "content": full_document(filling, room=sizes[0])})
    )

    stamp_documents(tool_run.transaction, tool_run.task)

    assert 120 < sizes[0] < 256
    assert tool_run.transaction.validate() == ()


def test_an_edit_that_leaves_no_room_for_the_stamp_is_refused_by_the_tool(tool_run: ToolRun) -> None:
    path = f"{tool_run.roots.user}/a.md"
    Path(path).write_text(full_document("body", room=200))
    edit = {"file_path": path, "old_string": "filler", "new_string": "filler" * 20}

    assert not tool_run.call("edit", json.dumps(edit)).ok
    assert not tool_run.tools.saved


def test_a_document_stays_valid_only_with_room_for_any_stamp(tool_run: ToolRun) -> None:
    longest = replace(tool_run.task, client=ClientId("c" * 128))

    assert len(source_of(longest)) < 256
    assert stays_valid(full_document("header", room=400).encode())
    assert not stays_valid(full_document("header", room=200).encode())


def test_a_source_without_a_client_names_task_and_kind() -> None:
    task = FencedTask(TaskId("remember-1"), LaneId("l"), 1, "remember")

    assert source_of(task) == "task=remember-1 kind=remember"


def full_document(filling: str, *, room: int = 8) -> str:
    """A valid document with so many bytes left in its header, or in all."""
    text = document(body="filler").replace("name:", "note: x\nname:")
    if filling == "header":
        header = text.split("---\n")[1]
        return text.replace("note: x", "note: " + "x" * (MAX_HEADER_BYTES - len(header) - room + 1))
    return text + "x" * (MAX_FILE_BYTES - len(text) - room)


def write(tool_run: ToolRun, path: str, content: str, *, read_first: bool = False) -> bytes:
    if read_first:
        tool_run.call("read_file", json.dumps({"file_path": path}))
    result = tool_run.tools.call(
        ToolCall("1", "write_file", json.dumps({"file_path": path, "content": content}))
    )
    assert result.ok, result.text
    stamp_documents(tool_run.transaction, tool_run.task)
    assert not Path(path).exists() or Path(path).read_bytes() != tool_run.transaction.read(path)
    return bytes(tool_run.transaction.read(path))
