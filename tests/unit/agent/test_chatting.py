"""How the offline model answers questions: a search that says that it is one."""

import pytest

from agent.briefing import folders_of
from agent.chat.prompt import chat_system
from agent.deadline import Deadline
from agent.models.chatting import LEAD
from agent.models.interface import Message, Reply
from agent.models.offline import OfflineModel
from agent.tools import READING_TOOLS, MemoryTools
from tests.support.scripted_model import document
from tests.support.tool_run import ToolRun


def ask(tool_run: ToolRun, *questions: str) -> str:
    """Ask one after the other; gives the answer to the last one."""
    folders = folders_of(tool_run.transaction)
    tools = MemoryTools(tool_run.transaction, deadline=soon(), allowed=READING_TOOLS)
    talk = [Message("system", chat_system(folders, {}))]
    for question in questions:
        talk.append(Message("user", question))
        while (reply := answer(talk, tools)).tool_calls:
            talk.append(Message("assistant", reply.text, tool_calls=reply.tool_calls))
            talk += [
                Message("tool", tools.call(call).text, tool_call_id=call.id) for call in reply.tool_calls
            ]
        talk.append(Message("assistant", reply.text))
    return talk[-1].text


def answer(talk: list[Message], tools: MemoryTools) -> Reply:
    return OfflineModel().complete(talk, tools.specs, deadline=soon())


def soon() -> Deadline:
    return Deadline.after(60_000)


def remember(tool_run: ToolRun, path: str, body: str, name: str = "A fact") -> None:
    tool_run.transaction.write(f"{tool_run.roots.user}/{path}", document(name=name, body=body).encode())


def test_memory_that_holds_words_of_the_question_is_listed_best_first(tool_run: ToolRun) -> None:
    remember(tool_run, "user/coffee.md", "Coffee is for guests.")
    remember(tool_run, "user/tea.md", "Prefers green tea.\nNever coffee after noon.")

    text = ask(tool_run, "Do I like green tea or coffee?")

    assert text == "\n".join(
        [
            LEAD,
            "",
            "What memory holds on that:",
            "- user/tea.md (user): Prefers green tea.",
            "- user/coffee.md (user): Coffee is for guests.",
        ]
    )


def test_a_memory_of_which_only_the_name_fits_is_shown_by_it(tool_run: ToolRun) -> None:
    remember(tool_run, "user/a.md", "Green.", name="Favourite tea")

    assert "- user/a.md (user): Favourite tea" in ask(tool_run, "tea?")


@pytest.mark.parametrize(
    "prompt",
    [
        "Channel memory for this chat:\n- [Tea](user/tea.md)\n\nYour name is Tea.\n\nWhat about zebras?",
        "Messages in this chat since the last turn:\n[Ann] tea!\n\n[Tea Lover] What about zebras?",
        '[Replying to: "tea"]\n\nWhat about zebras?\n\n[image "tea" saved to: /srv/tea.png]',
    ],
)
def test_only_what_is_asked_is_searched_for_and_not_what_is_told_with_it(tool_run, prompt):
    remember(tool_run, "user/tea.md", "Prefers green tea.")
    remember(tool_run, "user/zoo.md", "Likes zebras.")

    assert "user/tea.md" not in ask(tool_run, prompt)
    assert "- user/zoo.md (user): Likes zebras." in ask(tool_run, prompt)


def test_a_memory_of_which_only_notes_about_it_fit_is_not_listed(tool_run: ToolRun) -> None:
    text = document(name="A fact", body="Prefers green tea.").replace("---\n", "---\nsource: task\n", 1)
    tool_run.transaction.write(f"{tool_run.roots.user}/user/tea.md", text.encode())

    assert "tea.md" in ask(tool_run, "green")
    assert ask(tool_run, "task") == f"{LEAD}\n\nNothing in memory holds a word of the question."


def test_nothing_found_is_said(tool_run: ToolRun) -> None:
    assert ask(tool_run, "What about zebras?") == f"{LEAD}\n\nNothing in memory holds a word of the question."


def test_a_question_without_words_is_told_what_to_do(tool_run: ToolRun) -> None:
    assert ask(tool_run, "?!") == f"{LEAD}\n\nAsk with words that a memory may hold."


def test_each_question_is_searched_for_anew(tool_run: ToolRun) -> None:
    remember(tool_run, "user/tea.md", "Prefers green tea.")

    assert "user/tea.md" not in ask(tool_run, "Which tea?", "What about zebras?")
    assert ask(tool_run, "Which tea?") == ask(tool_run, "Which tea?")


def test_at_most_ten_memories_are_listed(tool_run: ToolRun) -> None:
    for number in range(12):
        remember(tool_run, f"user/tea-{number}.md", "Tea.")

    assert ask(tool_run, "tea").count("\n- ") == 10


def test_what_it_says_is_heard_line_by_line(tool_run: ToolRun) -> None:
    talk, heard = [Message("system", ""), Message("user", "?!")], list[str]()
    tools = MemoryTools(tool_run.transaction, deadline=soon(), allowed=READING_TOOLS)

    reply = OfflineModel().speak(talk, tools.specs, deadline=soon(), hear=heard.append)

    assert "".join(heard) == reply.text
    assert len(heard) == 3
