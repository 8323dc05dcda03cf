import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from agent.deadline import Deadline
from agent.errors import TaskTimeout
from agent.headless import HeadlessAgent, HeadlessRun, ToolUse, run_headless
from agent.models.interface import Message, Reply, ToolCall, ToolSpec
from core.acp import Usage
from tests.support.scripted_model import document
from tests.support.tool_run import ToolRun

AGENT = HeadlessAgent(name="test", system="rules", order="order", max_turns=6)


class Replies:
    """A model that answers from a list and keeps what it was asked."""

    name = "replies"

    def __init__(self, replies: Iterable[Reply]) -> None:
        self._replies = iter(replies)
        self.asked: list[tuple[Message, ...]] = []

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        self.asked.append(tuple(messages))
        return next(self._replies)


def test_the_run_stops_right_after_a_valid_write(tool_run: ToolRun) -> None:
    model = Replies([write(tool_run, "a.md"), write(tool_run, "b.md")])

    run = start(tool_run, model)

    assert run == HeadlessRun("saved", "Saved.", (ToolUse("write_file", ok=True),))
    assert len(model.asked) == 1


def test_failures_go_back_to_the_model_with_the_call_that_failed(tool_run: ToolRun) -> None:
    model = Replies([call("read_file", "{broken"), write(tool_run, "a.md")])

    run = start(tool_run, model)

    assert run.ending == "saved"
    assert [use.ok for use in run.tool_log] == [False, True]
    told = model.asked[1][-1]
    assert (told.role, told.tool_call_id) == ("tool", "c0")
    assert "do not fit" in told.text


def test_validation_problems_go_back_to_the_model(tool_run: ToolRun) -> None:
    model = Replies([write(tool_run, "a.md", "no frontmatter"), write(tool_run, "a.md")])

    run = start(tool_run, model)

    assert run.ending == "saved"
    assert "frontmatter" in model.asked[1][-1].text


def test_a_refused_write_beside_a_good_one_is_heard_of_before_the_run_ends(tool_run: ToolRun) -> None:
    existing = tool_run.roots.user / "b.md"
    existing.write_text(document(name="Old"))
    both = calls(write(tool_run, "a.md"), write(tool_run, "b.md"))
    model = Replies(
        [both, call("read_file", json.dumps({"file_path": str(existing)})), write(tool_run, "b.md")]
    )

    run = start(tool_run, model)

    assert run.ending == "saved"
    assert "was not read" in model.asked[1][-1].text
    assert [Path(change.path).name for change in tool_run.transaction.changes] == ["a.md", "b.md"]


def test_what_is_valid_is_saved_when_the_model_leaves_a_refused_write_at_that(tool_run: ToolRun) -> None:
    (tool_run.roots.user / "b.md").write_text(document(name="Old"))
    both = calls(write(tool_run, "a.md"), write(tool_run, "b.md"))

    model = Replies([both, Reply("Saved one.", (), usage(1))])
    run = start(tool_run, model)

    assert (run.ending, run.text, len(model.asked)) == ("saved", "Saved one.", 2)


def test_what_is_valid_is_saved_when_the_model_goes_round_in_circles(tool_run: ToolRun) -> None:
    (tool_run.roots.user / "b.md").write_text(document(name="Old"))
    both = calls(write(tool_run, "a.md"), write(tool_run, "b.md"))

    run = start(tool_run, Replies([both] * 6))

    assert run.ending == "saved"
    assert [Path(change.path).name for change in tool_run.transaction.changes] == ["a.md"]


def test_a_write_that_a_crowded_turn_left_out_is_heard_of_before_the_run_ends(tool_run: ToolRun) -> None:
    looks = [call("grep_search", json.dumps({"pattern": f"x{number}"})) for number in range(15)]
    model = Replies(
        [calls(*looks, write(tool_run, "a.md"), write(tool_run, "b.md")), write(tool_run, "b.md")]
    )

    run = start(tool_run, model)

    assert run.ending == "saved"
    assert [Path(change.path).name for change in tool_run.transaction.changes] == ["a.md", "b.md"]


def test_a_reply_without_calls_ends_the_run(tool_run: ToolRun) -> None:
    run = start(tool_run, Replies([Reply("Nothing to save.", (), usage(1))]))

    assert (run.ending, run.text) == ("answered", "Nothing to save.")


def test_the_third_identical_call_in_a_row_ends_the_run_unexecuted(tool_run: ToolRun) -> None:
    listing = call("list_directory", json.dumps({"path": str(tool_run.roots.user)}))

    run = start(tool_run, Replies([listing] * 6))

    assert run.ending == "stuck"
    assert len(run.tool_log) == 2


def test_three_turns_that_find_nothing_new_end_the_run(tool_run: ToolRun) -> None:
    replies = [call("read_file", json.dumps({"file_path": f"/nowhere/{number}"})) for number in range(6)]

    model = Replies(replies)
    run = start(tool_run, model)

    assert (run.ending, len(model.asked)) == ("stuck", 3)


def test_a_model_that_keeps_looking_runs_out_of_turns(tool_run: ToolRun) -> None:
    folder = str(tool_run.roots.user)
    replies = [
        call("grep_search", json.dumps({"pattern": f"x{number}", "path": folder})) for number in range(9)
    ]

    model = Replies(replies)
    run = start(tool_run, model)

    assert (run.ending, len(model.asked)) == ("turns", 6)


def test_too_many_calls_in_one_turn_are_answered_but_not_run(tool_run: ToolRun) -> None:
    many = tuple(
        ToolCall(f"c{number}", "grep_search", json.dumps({"pattern": f"x{number}"})) for number in range(20)
    )
    model = Replies([Reply("", many, usage(1)), Reply("Enough.", (), usage(1))])

    run = start(tool_run, model)

    assert len(run.tool_log) == 16
    assert [message.tool_call_id for message in model.asked[1][-20:]] == [one.id for one in many]
    assert model.asked[1][-1].text == "Error: too many calls in one turn"


def test_no_model_is_asked_after_the_deadline(tool_run: ToolRun) -> None:
    model = Replies([])

    with pytest.raises(TaskTimeout):
        run_headless(AGENT, model=model, tools=tool_run.tools, deadline=Deadline.after(0))
    assert model.asked == []


def start(tool_run: ToolRun, model: Replies) -> HeadlessRun:
    return run_headless(AGENT, model=model, tools=tool_run.tools, deadline=Deadline.after(60_000))


def usage(model_calls: int) -> Usage:
    return Usage(input_tokens=10 * model_calls, output_tokens=model_calls, model_calls=model_calls)


def call(name: str, arguments: str, text: str = "") -> Reply:
    return Reply(text, (ToolCall("c0", name, arguments),), usage(1))


def calls(*replies: Reply) -> Reply:
    """One reply with the calls of all of them."""
    made = [call for reply in replies for call in reply.tool_calls]
    return Reply(
        "",
        tuple(ToolCall(f"c{number}", one.name, one.arguments) for number, one in enumerate(made)),
        usage(1),
    )


def write(tool_run: ToolRun, name: str, content: str | None = None) -> Reply:
    arguments = {"file_path": f"{tool_run.roots.user}/{name}", "content": content or document()}
    return call("write_file", json.dumps(arguments), "Saved.")
