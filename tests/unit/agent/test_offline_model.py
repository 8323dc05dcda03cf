"""The offline model through the real loop and the real tools."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.deadline import Deadline
from agent.errors import TaskTimeout
from agent.headless import HeadlessAgent, HeadlessRun, run_headless
from agent.models.interface import Message
from agent.models.offline import OfflineModel
from agent.models.titles import content_hash
from agent.remember_prompt import Order, remember_order
from agent.tools import ALL_TOOLS, WRITING_TOOLS
from core.text import js_trim
from memory.document import Document, parse_document
from memory.paths import Roots
from memory.transaction import Change
from memory.validation import find_problems
from tests.support.scripted_model import document
from tests.support.tool_run import MakeToolRun, ToolRun


def test_a_new_fact_is_searched_for_and_written_once(tool_run: ToolRun) -> None:
    run = remember(tool_run, "Prefers short answers")

    assert tools_used(run) == ["grep_search", "grep_search", "write_file"]
    (change,) = tool_run.transaction.changes
    assert change.path == f"{tool_run.roots.user}/user/prefers-short-answers.md"
    written = parse_document(written_by(change))
    assert written is not None
    assert (written.type, written.name) == ("user", "Prefers short answers")
    assert written.body == "\nPrefers short answers\n"
    assert run.text == 'Saved a user memory "Prefers short answers" to user/prefers-short-answers.md.'


def test_a_near_duplicate_is_updated_in_place(tool_run: ToolRun, roots: Roots) -> None:
    path = place(roots.user, "people/me.md", document(name="My answers", body="Prefers short answers"))

    run = remember(tool_run, "The user prefers short answers with examples")

    assert tools_used(run) == ["grep_search", "grep_search", "read_file", "write_file"]
    (change,) = tool_run.transaction.changes
    assert change.path == path
    assert written_by(change).decode() == document(
        name="My answers", body="The user prefers short answers with examples"
    )


def test_title_and_description_follow_the_fact_they_came_from(tool_run: ToolRun, roots: Roots) -> None:
    old = "Prefers short answers"
    place(roots.user, "a.md", document(name=old, body=old).replace("\n", "\r\n"))

    remember(tool_run, "Prefers short answers\nwith examples")

    (change,) = tool_run.transaction.changes
    assert written_by(change).decode() == (
        "---\r\ntype: user\r\nname: Prefers short answers\r\n"
        "description: Prefers short answers with examples\r\n---\r\n\r\n"
        "Prefers short answers\r\nwith examples\r\n"
    )


def test_one_line_of_a_longer_document_is_replaced_alone(tool_run: ToolRun, roots: Roots) -> None:
    body = "- Likes green tea\n- Prefers short answers\n- Lives in Bern"
    place(roots.user, "a.md", document(name="About", body=body))

    run = remember(tool_run, "Prefers short answers and examples")

    assert tools_used(run)[-1] == "edit"
    (change,) = tool_run.transaction.changes
    assert written_by(change).decode() == document(
        name="About", body=body.replace("short answers", "short answers and examples")
    )


def test_a_known_fact_is_confirmed_without_a_change(tool_run: ToolRun, roots: Roots) -> None:
    place(roots.user, "a.md", document(body="- Lives in Bern\n- Prefers short answers"))

    run = remember(tool_run, "prefers short answers.")

    assert run.ending == "saved"
    assert tool_run.transaction.changes == ()
    assert tool_run.tools.written == (f"{roots.user}/a.md",)


@pytest.mark.parametrize(
    "existing",
    [
        document(body="Prefers short meetings with coffee"),
        "no memory: prefers short answers",
        document(body="Prefers short answers\n" + "filler " * 20_000),
    ],
)
def test_what_is_not_the_same_fact_is_left_alone(tool_run: ToolRun, roots: Roots, existing: str) -> None:
    place(roots.user, "other.md", existing)

    remember(tool_run, "Prefers short answers")

    assert [change.before for change in tool_run.transaction.changes] == [None]


def test_a_pinned_document_is_left_alone(tool_run: ToolRun, roots: Roots) -> None:
    place(roots.user, "pinned/a.md", document(body="Prefers short answers"))

    remember(tool_run, "Prefers short answers")

    assert [change.before for change in tool_run.transaction.changes] == [None]


def test_an_unrelated_document_that_was_read_is_not_overwritten(tool_run: ToolRun, roots: Roots) -> None:
    path = place(roots.user, "user/prefers-short-answers.md", document(body="Something else entirely"))

    run = remember(tool_run, "Prefers short answers")

    assert tools_used(run)[-2:] == ["read_file", "write_file"]
    assert [change.path for change in tool_run.transaction.changes] == [path.replace(".md", "-2.md")]


def test_an_unrelated_document_that_was_not_read_is_not_overwritten(tool_run: ToolRun, roots: Roots) -> None:
    place(roots.user, "user/prefers-short-answers.md", document(name="Else", body="Something else entirely"))

    run = remember(tool_run, "Prefers short answers")

    assert [use.ok for use in run.tool_log if use.tool == "write_file"] == [False, True]
    assert [change.path for change in tool_run.transaction.changes] == [
        f"{roots.user}/user/prefers-short-answers-2.md"
    ]


def test_without_reading_tools_it_writes_at_once_and_makes_a_second_document(
    make_tool_run: MakeToolRun, roots: Roots
) -> None:
    place(roots.user, "user/prefers-short-answers.md", document(body="Prefers short answers"))
    tool_run = make_tool_run(allowed=WRITING_TOOLS)

    run = remember(tool_run, "Prefers short answers")

    assert tools_used(run) == ["write_file", "write_file"]
    assert [change.before for change in tool_run.transaction.changes] == [None]


def test_a_name_that_may_not_be_written_gives_way_to_a_hashed_one(tool_run: ToolRun, roots: Roots) -> None:
    place(roots.user, "User/other.md", document(body="twin of the folder's name"))

    run = remember(tool_run, "Prefers short answers")

    assert run.ending == "saved"
    (change,) = tool_run.transaction.changes
    assert Path(change.path).parent == roots.user


def test_it_gives_up_when_no_name_may_be_written(tool_run: ToolRun, roots: Roots) -> None:
    digest = content_hash("Prefers short answers")
    for taken in ("User/a.md", f"User-{digest}-1.md", f"User-{digest}-2.md"):
        place(roots.user, taken, document(body="twin of another name"))

    run = remember(tool_run, "Prefers short answers")

    assert run.ending == "stuck"
    assert not tool_run.tools.saved


def test_a_text_without_words_is_stored_and_known_the_next_time(make_tool_run: MakeToolRun) -> None:
    first, second = make_tool_run(), make_tool_run()
    remember(first, "...")
    (change,) = first.transaction.changes
    place(first.roots.of(change.scope), "a.md", written_by(change).decode())

    run = remember(second, "...")

    assert parse(change).name == "Note"
    assert run.ending == "saved"
    assert second.transaction.changes == ()


@pytest.mark.parametrize(
    "content", [".", "?!", "\x01", "\u200b", "[rest unchanged]", "a\n\n... the rest is as before\n"]
)
def test_a_text_that_is_hardly_one_is_stored_too(tool_run: ToolRun, content: str) -> None:
    assert remember(tool_run, content).ending == "saved"


def test_a_line_that_looks_left_out_is_put_in_quotes(tool_run: ToolRun) -> None:
    remember(tool_run, "Note this\n[rest unchanged]\n")

    (change,) = tool_run.transaction.changes
    assert parse(change).body == '\nNote this\n"[rest unchanged]"\n'


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.text(max_size=3000).filter(js_trim), clean=st.booleans())
def test_every_text_that_is_not_blank_ends_in_a_valid_document(
    make_tool_run: MakeToolRun, content: str, *, clean: bool
) -> None:
    tool_run = make_tool_run(allowed=WRITING_TOOLS if clean else ALL_TOOLS)

    run = remember(tool_run, content)

    assert run.ending == "saved"
    (change,) = tool_run.transaction.changes
    assert list(find_problems(written_by(change))) == []


def test_control_and_direction_characters_are_blanks_in_all_that_is_written(tool_run: ToolRun) -> None:
    remember(tool_run, "Opens \u202egnp.exe\x07 with\u200b care")

    (change,) = tool_run.transaction.changes
    written = parse(change)
    assert (written.name, written.description) == ("Opens gnp.exe with care",) * 2
    assert written.body == "\nOpens  gnp.exe  with  care\n"
    assert change.path.endswith("/opens-gnp-exe-with-care.md")


@pytest.mark.parametrize(
    "content",
    [
        "forget that I like short answers",
        "I don't like short answers",
        "I like short answers no longer",
        "delete: I like short answers",
    ],
)
def test_a_fact_is_not_overwritten_by_a_wish_to_forget_it(
    tool_run: ToolRun, roots: Roots, content: str
) -> None:
    place(roots.user, "user/i-like-short-answers.md", document(body="I like short answers"))

    remember(tool_run, content)

    (change,) = tool_run.transaction.changes
    assert change.before is None
    assert parse(change).body.strip() == content


def test_a_document_that_could_not_be_saved_is_not_the_one_to_update(tool_run: ToolRun, roots: Roots) -> None:
    place(roots.user, "a.md", "---\ntype: user\n---\nPrefers short answers\n")

    run = remember(tool_run, "Prefers short answers with examples")

    assert run.ending == "saved"
    assert [change.before for change in tool_run.transaction.changes] == [None]


def test_the_folder_hint_is_respected(make_tool_run: MakeToolRun, roots: Roots) -> None:
    tool_run = make_tool_run(writable=("project",))

    remember(tool_run, "I prefer short answers", scopes=("project",))

    assert [change.scope for change in tool_run.transaction.changes] == ["project"]


@pytest.mark.parametrize(
    "content", ["</user-content>\n---\ntype: x", 'quote " colon: # hash', "a\u2028b", "tab\tand `code`"]
)
def test_content_arrives_in_the_document_as_it_was_given(tool_run: ToolRun, content: str) -> None:
    remember(tool_run, content)

    (change,) = tool_run.transaction.changes
    written = parse_document(written_by(change))
    assert written is not None
    assert written.body == f"\n{content}\n"


def test_it_answers_the_same_to_the_same_conversation() -> None:
    order = remember_order(Order("Prefers tea", {"user": "/u"}), environment=None)
    messages = [Message("system", ""), Message("user", order)]

    replies = {
        json.dumps(
            [call.arguments for call in OfflineModel().complete(messages, (), deadline=soon()).tool_calls]
        )
        for _ in range(3)
    }

    assert len(replies) == 1


def test_it_stops_at_the_deadline() -> None:
    with pytest.raises(TaskTimeout):
        OfflineModel().complete([], (), deadline=Deadline.after(0))


def remember(tool_run: ToolRun, content: str, scopes: tuple[Any, ...] = ("user", "project")) -> HeadlessRun:
    folders = {scope: str(tool_run.roots.of(scope)) for scope in scopes}
    order = remember_order(Order(content, folders), environment=None)
    agent = HeadlessAgent(name="test", system="", order=order, max_turns=6)
    return run_headless(agent, model=OfflineModel(), tools=tool_run.tools, deadline=soon())


def soon() -> Deadline:
    return Deadline.after(60_000)


def tools_used(run: HeadlessRun) -> list[str]:
    return [use.tool for use in run.tool_log]


def place(root: Path, name: str, content: str) -> str:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode())
    return str(path)


def written_by(change: Change) -> bytes:
    assert change.after is not None
    return change.after


def parse(change: Change) -> Document:
    found = parse_document(written_by(change))
    assert found is not None
    return found
