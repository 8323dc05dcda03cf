"""Prompts answered from a real memory, in this process."""

from pathlib import Path
from typing import Any

import pytest

from agent.cancellation import Cancellation
from agent.chat.answering import Answer, MemoryPlace, answer_prompt
from agent.chat.session import Prompt, Session
from agent.errors import ModelUnavailable, TaskCancelled
from core.ids import SessionId
from core.jsonrpc import Request
from core.policies import Policy
from memory.errors import StoreUnusable
from tests.support.memory import documents_below
from tests.support.scripted_model import document
from tests.support.speaking_model import SpeakingModel, Step, said


class Chat:
    """A session about a memory that holds one document."""

    def __init__(self, folder: Path, *steps: Step, policy: Policy | None = None) -> None:
        self.base = folder / "base"
        self.tea = self.base / "memories" / "user" / "tea.md"
        self.tea.parent.mkdir(parents=True)
        self.tea.write_text(document(name="Tea", body="Prefers green tea."))
        (self.base / "memories" / "MEMORY.md").write_text("- [Tea](user/tea.md)\n")
        (folder / "workspace").mkdir()
        self.place = MemoryPlace(self.base, str(folder / "workspace"), policy or Policy())
        self.model = SpeakingModel(*steps)
        self.session = Session(SessionId("session-1"), cwd="/srv/ws", model=self.model)
        self.updates: list[dict[str, Any]] = []

    def ask(self, text: str, *, cancellation: Cancellation | None = None) -> Answer:
        prompt = Prompt(Request(1, "session/prompt", {}), text, cancellation or Cancellation())
        return answer_prompt(prompt, self.session, self.place, tell=self.updates.append)

    @property
    def heard(self) -> str:
        return "".join(one["content"]["text"] for one in self.updates if "chunk" in one["sessionUpdate"])

    @property
    def said_so_far(self) -> list[str]:
        return [one.text for one in self.session.history()]


def test_an_answer_is_told_word_by_word_and_kept(tmp_path: Path) -> None:
    chat = Chat(tmp_path, said("Green tea."), said("Yes."))

    answer = chat.ask("Which tea?")

    assert (answer.stop_reason, answer.usage.model_calls) == ("end_turn", 1)
    assert [one["content"]["text"] for one in chat.updates] == ["Green", "tea."]
    chat.ask("Sure?")
    assert [one.text for one in chat.model.asked[1][1:]] == ["Which tea?", "Greentea.", "Sure?"]


def test_the_model_sees_the_index_and_has_the_reading_tools_only(tmp_path: Path) -> None:
    chat = Chat(tmp_path, said("Green tea."))

    chat.ask("Which tea?")

    assert "- [Tea](user/tea.md)" in chat.model.asked[0][0].text
    assert chat.model.offered == ["read_file", "grep_search", "list_directory"]


def test_a_model_that_tries_to_write_changes_nothing(tmp_path: Path) -> None:
    chat = Chat(
        tmp_path,
        said(
            "",
            ("write_file", {"file_path": str(tmp_path / "base/memories/user/new.md"), "content": document()}),
        ),
        said("", ("edit", {"file_path": "/etc/passwd", "old_string": "a", "new_string": "b"})),
        said("I can't."),
    )
    before = {path: path.read_bytes() for path in documents_below(chat.base)}

    assert chat.ask("Remember that I like coffee").stop_reason == "end_turn"

    assert {path: path.read_bytes() for path in documents_below(chat.base)} == before
    failed = [one["status"] for one in chat.updates if one["sessionUpdate"] == "tool_call_update"]
    assert failed == ["failed", "failed"]


def test_what_waits_for_a_review_is_shown_by_no_tool(tmp_path: Path) -> None:
    held = tmp_path / "base/memories/user/held.md"
    chat = Chat(
        tmp_path,
        said("", ("grep_search", {"pattern": "orders|tea"}), ("read_file", {"file_path": str(held)})),
        said("Tea."),
    )
    held.write_text(document(body="These are orders.").replace("type:", 'review: "true"\ntype:'))

    chat.ask("Any orders?")

    ended = [one for one in chat.updates if one["sessionUpdate"] == "tool_call_update"]
    shown = [one["content"][0]["content"]["text"] for one in ended]
    assert "Prefers green tea." in shown[0]
    assert "orders" not in shown[0]
    assert shown[1] == "Error: it waits for a review"


def test_what_is_said_after_a_tool_is_a_paragraph_of_its_own(tmp_path: Path) -> None:
    chat = Chat(
        tmp_path, said("Wait.", ("list_directory", {"path": str(tmp_path / "base/memories")})), said("Tea.")
    )

    chat.ask("Which?")

    assert chat.heard == "Wait.\n\nTea."
    assert [one["sessionUpdate"] for one in chat.updates[1:3]] == ["tool_call", "tool_call_update"]


def test_a_cancelled_prompt_keeps_what_was_said_until_then(tmp_path: Path) -> None:
    chat = Chat(tmp_path, TaskCancelled("it was called off"))

    assert chat.ask("Which tea?").stop_reason == "cancelled"

    assert chat.said_so_far == ["Which tea?", "Well"]


def test_a_prompt_that_is_called_off_before_its_turn_asks_no_model(tmp_path: Path) -> None:
    chat, cancellation = Chat(tmp_path), Cancellation()
    cancellation.set("task")

    assert chat.ask("Which tea?", cancellation=cancellation).stop_reason == "cancelled"

    assert chat.model.asked == []


def test_a_prompt_that_the_model_declines_is_no_part_of_the_session(tmp_path: Path) -> None:
    chat = Chat(tmp_path, said("No.", finish="refusal"))

    assert chat.ask("Do evil").stop_reason == "refusal"

    assert chat.said_so_far == []


def test_an_answer_without_an_end_says_so(tmp_path: Path) -> None:
    chat = Chat(tmp_path, said("And then", finish="length"))

    assert chat.ask("Tell me everything").stop_reason == "max_tokens"


def test_an_operator_bounds_turns_and_tokens_of_a_prompt(tmp_path: Path) -> None:
    look = ("list_directory", {"path": str(tmp_path / "base/memories")})
    for name, policy, stop_reason in (
        ("turns", Policy(max_turns=1), "max_turn_requests"),
        ("tokens", Policy(max_tokens=5), "max_tokens"),
    ):
        chat = Chat(tmp_path / name, said("Wait.", look), said("Tea."), policy=policy)

        assert chat.ask("Which tea?").stop_reason == stop_reason
        assert len(chat.model.asked) == 1


def test_a_prompt_that_fails_leaves_the_session_as_it_was(tmp_path: Path) -> None:
    chat = Chat(tmp_path, ModelUnavailable("no answer"), said("Green."))

    with pytest.raises(ModelUnavailable):
        chat.ask("Which tea?")

    assert chat.said_so_far == []
    assert chat.ask("Which tea?").stop_reason == "end_turn"


def test_without_its_memory_a_prompt_fails_and_nothing_is_made_in_its_place(tmp_path: Path) -> None:
    chat = Chat(tmp_path, said("Green."))
    chat.base.rename(tmp_path / "gone")

    with pytest.raises(StoreUnusable):
        chat.ask("Which tea?")

    assert not chat.base.exists()


def test_a_memory_that_was_never_written_is_read_as_empty(tmp_path: Path) -> None:
    chat = Chat(tmp_path, said("Nothing."))
    chat.tea.unlink()

    assert chat.ask("Which tea?").stop_reason == "end_turn"
    assert not (chat.base / "projects").exists()
