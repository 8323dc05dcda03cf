"""Remember through the real child with the offline model."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core import acp
from core.ids import new_task_id
from core.memory_calls import RememberResult
from tests.support.agent_child import LANE, AgentChild, agent_child, assert_failed
from tests.support.git_log import read_log
from tests.support.scripted_model import document
from tests.support.waiting import until


def test_a_fact_becomes_a_document_an_index_line_and_a_result(offline: AgentChild) -> None:
    result = offline.remember("Prefers short answers", client="web:1")

    path = offline.user_root / "user/prefers-short-answers.md"
    assert RememberResult.model_validate(result).files_touched == [str(path)]
    assert result["touchedScopes"] == ["user"]
    assert result["revision"] == "r1"
    assert (
        result["summary"] == 'Saved a user memory "Prefers short answers" to user/prefers-short-answers.md.'
    )
    assert result["usage"] == {"inputTokens": 0, "outputTokens": 0, "modelCalls": 2}
    assert re.search(r"source: .*task=remember-\S+ client=web:1 kind=remember", path.read_text())
    assert "prefers-short-answers.md" in (offline.user_root / "MEMORY.md").read_text()


def test_once_it_is_quiet_git_shows_what_tasks_changed(offline: AgentChild) -> None:
    tasks = [new_task_id("remember") for _ in range(2)]
    for task, content in zip(tasks, ["Prefers tea", "Likes rain"], strict=True):
        offline.remember(content, task=task)

    until(lambda: len(read_log(offline.base)) == 2)

    log = read_log(offline.base)
    assert [f"Task: {task}" in logged.message for task, logged in zip(tasks, log, strict=True)] == [
        True,
        True,
    ]
    assert log[0].subject == 'r1 remember: Saved a user memory "Prefers tea" to user/prefers-tea.md.'
    assert log[1].files == offline.documents()


def test_a_history_that_can_not_be_written_is_told_and_fails_nothing(offline: AgentChild) -> None:
    (offline.base / "memlane").mkdir()
    (offline.base / "memlane/history.git").write_text("in the way")

    first = offline.remember("Prefers tea")
    until(lambda: "history_left" in offline.log)
    second = offline.remember("Likes rain")

    assert [first["revision"], second["revision"]] == ["r1", "r2"]


def test_the_tool_log_shows_that_the_offline_model_works_through_the_loop(tmp_path: Path) -> None:
    with agent_child(tmp_path, {"MEMLANE_LOG_LEVEL": "debug"}) as child:
        child.remember("Prefers short answers")

        assert '"tools": {"grep_search.ok": 2, "write_file.ok": 1}' in child.log


def test_a_task_is_one_line_of_the_log(offline: AgentChild) -> None:
    tasks = [new_task_id("remember") for _ in range(3)]
    for task, content in zip(tasks, ["Prefers tea", "Prefers tea", "Likes rain"], strict=True):
        offline.remember(content, task=task)
    offline.remember("Likes rain", task=tasks[2], fence=2)

    lines = [json.loads(line) for line in offline.log.splitlines()]
    assert [(line["task"], line["ending"], line["model_calls"]) for line in lines] == [
        (tasks[0], "saved", 2),
        (tasks[1], "known", 3),
        (tasks[2], "saved", 2),
        (tasks[2], "recovered", 0),
    ]
    assert {line["event"] for line in lines} == {"remember_ended"}
    assert all(line["ms"] >= 0 for line in lines)


def test_no_text_of_the_request_reaches_the_log(offline: AgentChild) -> None:
    offline.remember("Prefers xyzzy answers")
    offline.remember("Prefers xyzzy answers", timeout_ms=0)

    assert "xyzzy" not in offline.log


def test_a_secret_is_refused_and_told_to_nobody(offline: AgentChild) -> None:
    failed = offline.remember("The password is hunter2-xyzzy")

    assert_failed(failed, "secret_detected")
    assert "xyzzy" not in str(failed) + offline.log
    assert offline.documents() == {}


def test_a_known_fact_changes_nothing_and_says_so(offline: AgentChild) -> None:
    offline.remember("Prefers short answers")
    before = offline.documents()

    again = offline.remember("The user prefers short answers.")

    assert again == {
        "summary": 'Already known: "Prefers short answers" in user/prefers-short-answers.md.',
        "filesTouched": [],
        "touchedScopes": [],
        "usage": {"inputTokens": 0, "outputTokens": 0, "modelCalls": 3},
        "recovered": False,
        "knownAt": {"scope": "user", "path": "user/prefers-short-answers.md"},
    }
    assert offline.documents() == before


def test_the_same_longest_text_twice_is_one_document(offline: AgentChild) -> None:
    longest = "word " * (acp.MAX_CONTENT_BYTES // 5)
    offline.remember(longest)
    before = offline.documents()

    assert offline.remember(longest)["summary"].startswith("Already known: ")
    assert offline.documents() == before


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I like short answers", "forget that I like short answers"),
        ("I like coffee", "I don't like coffee"),
        ("我喜欢咖啡", "我不喜欢咖啡"),
        ("use pnpm not npm", "Do not use npm."),
    ],
)
def test_what_contradicts_a_fact_or_wants_it_forgotten_leaves_it_as_it_is(
    offline: AgentChild, first: str, second: str
) -> None:
    offline.remember(first)
    before = offline.documents()

    result = offline.remember(second)

    assert result["summary"].startswith("Saved a ")
    assert len(offline.documents()) == 2
    assert before.items() <= offline.documents().items()


def test_a_clean_request_makes_a_second_document(offline: AgentChild) -> None:
    offline.remember("Prefers short answers")

    result = offline.remember("Prefers short answers", contextMode="clean")

    assert result["filesTouched"] == [str(offline.user_root / "user/prefers-short-answers-2.md")]
    assert len(offline.documents()) == 2


@pytest.mark.parametrize("scope", ["user", "project"])
def test_the_asked_scope_is_the_one_written(offline: AgentChild, scope: str) -> None:
    result = offline.remember("Releases are cut on Fridays", scope=scope)

    assert result["touchedScopes"] == [scope]
    root = offline.user_root if scope == "user" else offline.project_root
    assert [Path(path).is_relative_to(root) for path in result["filesTouched"]] == [True]


def test_the_same_task_again_gives_the_recorded_result(offline: AgentChild) -> None:
    task = new_task_id("remember")
    first = offline.remember("Prefers short answers", task=task)
    before = offline.documents()

    again = offline.remember("Prefers short answers", task=task, fence=2)

    assert again == first | {"recovered": True}
    assert offline.documents() == before


def test_another_child_gives_the_recorded_result_too(tmp_path: Path) -> None:
    task = new_task_id("remember")
    with agent_child(tmp_path) as child:
        first = child.remember("Prefers short answers", task=task)

    with agent_child(tmp_path) as child:
        assert child.remember("Prefers short answers", task=task, fence=2) == first | {"recovered": True}


def test_a_stale_fence_is_refused_and_changes_nothing(offline: AgentChild) -> None:
    offline.remember("Prefers short answers", fence=7)
    before = offline.documents()

    failed = offline.remember("Likes tea", fence=6)

    assert_failed(failed, "lease_lost")
    assert failed.data["storedFence"] == 7
    assert offline.documents() == before


def test_dots_alone_are_stored(offline: AgentChild) -> None:
    assert offline.remember("...")["summary"].startswith('Saved a project memory "Note" to project/memory-')


@pytest.mark.parametrize(
    ("content", "name"), [("Ich mag die Straße", "ich-mag-die-straße"), ("我喜欢咖啡", "我喜欢咖啡")]
)
def test_a_document_is_called_by_the_words_of_its_fact(offline: AgentChild, content: str, name: str) -> None:
    result = offline.remember(content)

    assert result["filesTouched"] == [str(offline.user_root / f"user/{name}.md")]


def test_no_time_left_fails_at_once(offline: AgentChild) -> None:
    assert_failed(offline.remember("Likes tea", timeout_ms=0), "remember_timeout")
    assert offline.documents() == {}


def test_time_that_is_too_short_for_a_slow_commit_fails_at_once(offline: AgentChild) -> None:
    assert_failed(offline.remember("Likes tea", timeout_ms=10_000), "remember_timeout")
    assert offline.documents() == {}


def test_a_client_without_our_meta_is_served_in_a_lane_of_its_own(offline: AgentChild) -> None:
    first = offline.call(acp.REMEMBER, {"content": "Prefers short answers"})
    second = offline.call(acp.REMEMBER, {"content": "Likes tea from Assam", "cwd": "/elsewhere"})

    assert [first["revision"], second["revision"]] == ["r1", "r2"]


def test_a_wall_clock_that_was_set_back_does_not_lock_such_a_client_out(offline: AgentChild) -> None:
    lane = f"local/{offline.workspace_id}"
    ahead = {"taskId": new_task_id("remember"), "laneId": lane, "fence": 2**52}
    offline.call(acp.RESOLVE, {"cwd": "", "close": False} | ahead)

    result = offline.call(acp.REMEMBER, {"content": "Prefers short answers"})

    assert result["revision"] == "r1"


def test_resolve_gives_the_recorded_result(offline: AgentChild) -> None:
    task = new_task_id("remember")
    result = offline.remember("Prefers short answers", task=task)

    assert offline.call(acp.RESOLVE, resolve_params(task, fence=2)) == {"result": result}


def test_resolve_closes_a_task_that_did_not_commit(offline: AgentChild) -> None:
    task = new_task_id("remember")

    assert offline.call(acp.RESOLVE, resolve_params(task, fence=2)) == {"result": None}

    assert_failed(offline.remember("Prefers tea", task=task, fence=2), "task_closed")
    assert offline.documents() == {}


def test_resolve_may_only_look(offline: AgentChild) -> None:
    task = new_task_id("remember")
    offline.call(acp.RESOLVE, resolve_params(task, fence=2, close=False))

    assert offline.remember("Prefers tea", task=task, fence=2)["revision"] == "r1"


def test_resolve_under_a_stale_fence_says_so(offline: AgentChild) -> None:
    offline.remember("Prefers tea", fence=5)

    failed = offline.call(acp.RESOLVE, resolve_params(new_task_id("remember"), fence=4))

    assert failed.message == "Workspace memory resolve failed"
    assert (failed.data["errorKind"], failed.data["storedFence"]) == ("lease_lost", 5)


def test_memory_that_people_wrote_is_found_and_kept(offline: AgentChild) -> None:
    path = offline.user_root / "notes/me.md"
    path.parent.mkdir(parents=True)
    path.write_text(document(name="Me", body="- Lives in Bern\n- Prefers short answers"))

    result = offline.remember("Prefers short answers and examples")

    assert result["filesTouched"] == [str(path)]
    assert path.read_text().endswith("---\n\n- Lives in Bern\n- Prefers short answers and examples\n")


def resolve_params(task: str, *, fence: int, close: bool = True) -> dict[str, Any]:
    return {"cwd": "/", "taskId": task, "laneId": LANE, "fence": fence, "close": close}
