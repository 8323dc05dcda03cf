"""What the offline model does beside documents that say something alike, through the real loop and tools."""

from pathlib import Path
from typing import Any

import pytest

from agent.deadline import Deadline
from agent.headless import HeadlessAgent, HeadlessRun, run_headless
from agent.models.offline import OfflineModel
from agent.remember_prompt import Order, remember_order
from core.acp import MAX_CONTENT_BYTES
from memory.paths import Roots
from tests.support.scripted_model import document
from tests.support.tool_run import MakeToolRun, ToolRun

LONG_TEXTS = {
    "one line": "x y" * (MAX_CONTENT_BYTES // 3),
    "one word": "w" * MAX_CONTENT_BYTES,
    "tiny lines": "a\n" * (MAX_CONTENT_BYTES // 2),
    "hardly a line that says something": "a" + "\n" * (MAX_CONTENT_BYTES - 2) + "b",
    "many different words": "\n".join(f"word{number:04} other{number:04}" for number in range(3_200)),
    "a line of many different words": " ".join(f"word{number:05}" for number in range(6_500)),
    "paragraphs": "\n\n".join(
        f"Paragraph {n} tells of topic{n}. " + "Filler text. " * 40 for n in range(110)
    ),
    "another script": "我喜欢咖啡。" * (MAX_CONTENT_BYTES // 18),
    "emoji": "🍕" * (MAX_CONTENT_BYTES // 4),
}


def test_a_longer_line_that_contains_the_old_one_stays(tool_run: ToolRun, roots: Roots) -> None:
    body = "- Prefers short answers in chats\n- Prefers short answers\n- Also prefers short answers\n"
    place(roots.user, "a.md", document(name="Prefers short answers in chats", body=body))

    run = remember(tool_run, "Prefers short answers and examples")

    assert tools_used(run)[-1] == "edit"
    assert after(tool_run) == document(
        name="Prefers short answers in chats",
        body=body.replace("\n- Prefers short answers\n", "\n- Prefers short answers and examples\n"),
    )


def test_of_two_equal_lines_one_is_updated(tool_run: ToolRun, roots: Roots) -> None:
    body = "- Prefers short answers\n- Lives in Bern\n- Prefers short answers"
    place(roots.user, "a.md", document(name="About", body=body))

    remember(tool_run, "Prefers short answers and examples")

    assert sorted(after(tool_run).split("\n")[6:9]) == [
        "- Lives in Bern",
        "- Prefers short answers",
        "- Prefers short answers and examples",
    ]


def test_a_name_and_description_made_of_the_line_follow_it(tool_run: ToolRun, roots: Roots) -> None:
    text = document(name="Prefers short answers", body="# About\n\nPrefers short answers")
    place(roots.user, "a.md", text)

    remember(tool_run, "Prefers short answers and examples")

    assert after(tool_run) == text.replace("short answers", "short answers and examples")


@pytest.mark.parametrize("mark", ["- ", "* ", "+ ", "# ", "> ", "- [ ] ", "2) "])
def test_the_marks_before_a_line_stay(tool_run: ToolRun, roots: Roots, mark: str) -> None:
    text = document(name="About", body=f"Text.\n\n{mark}Prefers short answers\n\nMore text.")
    place(roots.user, "a.md", text.replace("\n", "\r\n"))

    remember(tool_run, "Prefers short answers and examples")

    expected = text.replace("short answers", "short answers and examples").replace("\n", "\r\n")
    assert after(tool_run) == expected


def test_a_wrapped_entry_is_replaced_as_one(tool_run: ToolRun, roots: Roots) -> None:
    body = "- Lives in Bern\n- Prefers short\n  answers\n  Why: reads on the phone\n"
    place(roots.user, "a.md", document(name="About", body=body))

    remember(tool_run, "Prefers short answers and examples")

    assert after(tool_run) == document(
        name="About", body=body.replace("short\n  answers", "short answers and examples")
    )


@pytest.mark.parametrize(
    "stored",
    [
        "- Do not deploy on Fridays\n  unless the lead agrees\n- Lives in Bern",
        "Do not deploy on Fridays\nunless the lead agrees\n\nMore text.",
        "- Do not deploy on Fridays unless the lead agrees\n- Lives in Bern",
    ],
)
@pytest.mark.parametrize("content", ["Do not deploy on Fridays", "Do not deploy on Fridays, ask the lead"])
def test_the_first_line_of_a_wrapped_entry_is_no_fact_of_its_own(
    tool_run: ToolRun, roots: Roots, stored: str, content: str
) -> None:
    place(roots.user, "a.md", document(name="Rules", body=stored))

    remember(tool_run, content)

    assert [change.before for change in tool_run.transaction.changes] == [None]


def test_a_broader_rule_beside_a_narrower_one_is_stored(tool_run: ToolRun, roots: Roots) -> None:
    narrower = place(roots.user, "a.md", document(kind="feedback", body="Use tabs in Makefiles."))

    remember(tool_run, "Use tabs.")

    (change,) = tool_run.transaction.changes
    assert change.path != narrower
    assert change.before is None


@pytest.mark.parametrize("content", LONG_TEXTS.values(), ids=LONG_TEXTS)
def test_the_longest_text_is_known_the_second_time(make_tool_run: MakeToolRun, content: str) -> None:
    assert MAX_CONTENT_BYTES * 9 // 10 < len(content.encode()) <= MAX_CONTENT_BYTES
    store(make_tool_run(), content)
    again = make_tool_run()

    run = remember(again, content)

    assert run.ending == "saved"
    assert again.transaction.changes == ()


def test_a_long_text_is_known_wherever_it_was_moved(make_tool_run: MakeToolRun, roots: Roots) -> None:
    content = LONG_TEXTS["many different words"]
    stored = Path(store(make_tool_run(), content))
    stored.rename(roots.user / "moved.md")
    again = make_tool_run()

    remember(again, content)

    assert again.transaction.changes == ()


def test_a_fact_that_a_search_does_not_reach_is_found_by_its_name(
    make_tool_run: MakeToolRun, roots: Roots
) -> None:
    place(roots.user, "a.md", document(body="Prefers this or that\n" * 600))
    store(make_tool_run(), "Prefers short answers")
    again = make_tool_run()

    run = remember(again, "Prefers short answers")

    assert again.transaction.changes == ()
    assert [use.ok for use in run.tool_log if use.tool == "write_file"] == [False, True]


def test_a_fact_that_had_to_take_another_name_is_found_by_that(
    make_tool_run: MakeToolRun, roots: Roots
) -> None:
    place(roots.user, "a.md", document(body="Prefers this or that\n" * 600))
    place(roots.user, "user/prefers-short-answers.md", document(body="Something else entirely"))
    place(roots.user, "user/prefers-short-answers-2.md", document(body="Something else again"))
    path = store(make_tool_run(), "Prefers short answers")
    again = make_tool_run()

    remember(again, "Prefers short answers")

    assert path.endswith("/prefers-short-answers-3.md")
    assert again.transaction.changes == ()


def test_a_document_that_is_full_is_not_the_one_to_update(tool_run: ToolRun, roots: Roots) -> None:
    full = document(body="Prefers short answers").replace("name:", f"note: {'x' * 8_050}\nname:")
    place(roots.user, "a.md", full)

    run = remember(tool_run, "Prefers short answers with examples")

    assert run.ending == "saved"
    assert [change.before for change in tool_run.transaction.changes] == [None]


def remember(tool_run: ToolRun, content: str) -> HeadlessRun:
    folders: dict[Any, str] = {"user": str(tool_run.roots.user), "project": str(tool_run.roots.project)}
    order = remember_order(Order(content, folders), environment=None)
    agent = HeadlessAgent(name="test", system="", order=order, max_turns=6)
    return run_headless(agent, model=OfflineModel(), tools=tool_run.tools, deadline=Deadline.after(60_000))


def store(tool_run: ToolRun, content: str) -> str:
    """Remember a text and put the document where a commit would; returns its path."""
    remember(tool_run, content)
    (change,) = tool_run.transaction.changes
    assert change.after is not None
    Path(change.path).parent.mkdir(parents=True, exist_ok=True)
    Path(change.path).write_bytes(change.after)
    return change.path


def after(tool_run: ToolRun) -> str:
    """Text of the one document that changed."""
    (change,) = tool_run.transaction.changes
    assert change.after is not None
    return change.after.decode()


def tools_used(run: HeadlessRun) -> list[str]:
    return [use.tool for use in run.tool_log]


def place(root: Path, name: str, content: str) -> str:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode())
    return str(path)
