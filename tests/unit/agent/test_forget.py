"""Forget on a real store, in this process: exact bytes, whoever selects."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.errors import ModelRejected, ModelUnavailable, SelectionFailed, TaskTimeout
from core.memory_calls import ForgetParams, ForgetResult
from memory.errors import CommitConflict, StoreBusy, StoreUnusable
from memory.store import Store
from tests.support.calling_model import CallingModel, FailingModel
from tests.support.memory import tree
from tests.support.scripted_model import document
from tests.support.task_memory import TaskMemory, task_call

BULLETS = """\
---
type: user
name: Drinks
description: what to drink
---

# Drinks

- Likes green tea
  Why: it is mild
- Likes coffee
  - with milk
  ```
  - Likes green tea
  ```
- Dislikes juice
"""


def put(memory: TaskMemory, path: str, text: str) -> Path:
    file = memory.roots.user / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def select(*ids: str) -> CallingModel:
    return CallingModel([("select_entries", {"ids": list(ids)})])


def files(memory: TaskMemory) -> dict[str, bytes]:
    return tree(memory.roots.user, memory.roots.project)


def test_a_forgotten_fact_is_told_in_the_words_of_the_contract(memory: TaskMemory) -> None:
    path = put(memory, "user/a.md", document(name="ACP probe", body="ACP probe: prefers short answers"))

    result = memory.forget("short answers")

    assert ForgetResult.model_validate(result).removed_entries[0].entry_index == 0
    assert {
        name: result[name] for name in ("summary", "removedEntries", "touchedTopics", "touchedScopes")
    } == {
        "summary": "Managed auto-memory forgot 1 entry from: user/",
        "removedEntries": [
            {
                "topic": "user",
                "summary": "ACP probe: prefers short answers",
                "filePath": str(path),
                "entryIndex": 0,
            }
        ],
        "touchedTopics": ["user"],
        "touchedScopes": ["user"],
    }
    assert not path.exists()


def test_nothing_that_matches_is_a_completed_task_without_a_change(memory: TaskMemory) -> None:
    put(memory, "user/a.md", document())
    before = files(memory)

    result = memory.forget("unrelated zebra")

    assert result == {
        "summary": "No managed auto-memory entries matched.",
        "removedEntries": [],
        "touchedTopics": [],
        "touchedScopes": [],
        "usage": {"inputTokens": 0, "outputTokens": 0, "modelCalls": 1},
        "recovered": False,
    }
    assert files(memory).items() >= before.items()


def test_an_empty_memory_is_not_shown_to_a_model(memory: TaskMemory) -> None:
    model = select()
    memory.use(model)

    assert memory.forget("tea")["summary"] == "No managed auto-memory entries matched."
    assert model.asked == []


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_one_bullet_goes_with_its_lines_and_every_other_byte_stays(memory: TaskMemory, ending: str) -> None:
    text = "\ufeff" + BULLETS.replace("\n", ending)
    path = put(memory, "user/a.md", text)
    memory.use(select("user:user/a.md:1"))

    result = memory.forget("coffee")

    gone = "- Likes coffee\n  - with milk\n  ```\n  - Likes green tea\n  ```\n".replace("\n", ending)
    assert path.read_bytes() == text.replace(gone, "").encode()
    assert result["removedEntries"][0]["entryIndex"] == 1


def test_several_entries_of_several_documents_go_in_one_revision(memory: TaskMemory) -> None:
    bullets = put(memory, "user/a.md", BULLETS)
    whole = put(memory, "b.md", document("feedback", "No tabs", "Never use tabs."))
    memory.use(select("user:b.md", "user:user/a.md:2", "user:user/a.md:0"))

    result = memory.forget("everything")

    assert result["summary"] == "Managed auto-memory forgot 3 entries from: user/, feedback/"
    assert result["revision"] == "r1"
    assert not whole.exists()
    gone = ("- Likes green tea\n  Why: it is mild\n", "- Dislikes juice\n")
    assert bullets.read_text() == BULLETS.replace(gone[0], "", 1).replace(gone[1], "")


def test_a_document_leaves_with_its_last_entry(memory: TaskMemory) -> None:
    path = put(memory, "user/a.md", BULLETS)
    memory.use(select(*(f"user:user/a.md:{index}" for index in range(3))))

    memory.forget("drinks")

    assert not path.exists()
    assert "a.md" not in (memory.roots.user / "MEMORY.md").read_text()


def test_a_document_that_lacks_a_name_can_be_forgotten_in_part(memory: TaskMemory) -> None:
    path = put(memory, "a.md", "---\ntype: user\n---\n- Likes tea\n- Likes coffee\n")
    memory.use(select("user:a.md:0"))

    memory.forget("tea")

    assert path.read_bytes() == b"---\ntype: user\n---\n- Likes coffee\n"


@pytest.mark.parametrize("query", ["e", "E", "é", "?", "the", "please forget", "no", "..."])
def test_a_request_that_says_nothing_removes_nothing(memory: TaskMemory, query: str) -> None:
    for number in range(11):
        put(memory, f"user/{number}.md", document(name=f"Note {number}", body=f"The e of note {number}."))
    before = files(memory)

    result = memory.forget(query)

    assert result["removedEntries"] == []
    assert files(memory).items() >= before.items()


def test_pinned_documents_are_neither_offered_nor_removed(memory: TaskMemory) -> None:
    pinned = put(memory, "pinned/a.md", document(body="Prefers tea."))
    put(memory, "user/a.md", document(body="Prefers tea."))
    before = pinned.read_bytes()
    memory.use(select("user:pinned/a.md"))

    with pytest.raises(SelectionFailed):
        memory.forget("unheard of")
    memory.use(FailingModel(ModelUnavailable("down")))
    memory.forget("prefers tea")

    assert pinned.read_bytes() == before
    assert not (memory.roots.user / "user/a.md").exists()


@pytest.mark.parametrize(
    ("documents", "query", "gone"),
    [
        ({"a.md": "Prefers ÉCLAIRS.", "b.md": "Prefers tea."}, "e\u0301clairs", {"a.md"}),
        ({"a.md": "Likes tea.", "b.md": "Likes green tea."}, "tea", {"a.md", "b.md"}),
        (
            {f"{number}.md": "Likes tea." for number in range(5)},
            "tea",
            {f"{number}.md" for number in range(5)},
        ),
    ],
)
def test_without_a_model_a_literal_request_still_removes_up_to_five(
    memory: TaskMemory, documents: Mapping[str, str], query: str, gone: set[str]
) -> None:
    for name, body in documents.items():
        put(memory, name, document(name="One", body=body))
    memory.use(FailingModel(ModelUnavailable("down")))

    memory.forget(query)

    assert {name for name in documents if not (memory.roots.user / name).exists()} == gone


@pytest.mark.parametrize(
    ("count", "query"), [(6, "tea"), (1, "e"), (1, "te"), (1, "t-e"), (2, "coffee"), (2, "likes  tea  a lot")]
)
def test_without_a_model_a_vague_request_fails_and_removes_nothing(
    memory: TaskMemory, count: int, query: str
) -> None:
    for number in range(count):
        put(memory, f"{number}.md", document(name="One", body="Likes tea."))
    before = files(memory)
    memory.use(FailingModel(ModelUnavailable("down")))

    with pytest.raises(SelectionFailed):
        memory.forget(query)

    assert files(memory).items() >= before.items()


def test_a_question_is_bounded_and_the_likeliest_entries_are_in_it(memory: TaskMemory) -> None:
    reasons = f"\n  Why: {'because ' * 40}\n  How to apply: {'always ' * 40}"
    for number in range(40):
        bullets = (f"- Server {number}-{entry} {'is green ' * 40}{reasons}" for entry in range(10))
        put(memory, f"{number}.md", document(name="Servers", body="\n".join(bullets)))
    put(memory, "wanted.md", document(body="Likes tea."))
    model = select("user:wanted.md")
    memory.use(model)

    memory.forget("likes tea")

    assert not (memory.roots.user / "wanted.md").exists()
    assert 100_000 < len(model.asked[0][1].text) < 130_000


def test_a_selection_has_eight_seconds_and_a_late_one_is_replaced_by_the_literal_rule(
    memory: TaskMemory,
) -> None:
    put(memory, "a.md", document(body="Likes tea."))
    model = select()
    memory.use(model)
    memory.forget("tea")
    memory.use(FailingModel(TaskTimeout("late")))

    result = memory.forget("likes tea")

    assert model.given_ms[0] <= 8_000
    assert len(result["removedEntries"]) == 1


def test_a_task_whose_own_time_is_over_removes_nothing(memory: TaskMemory) -> None:
    put(memory, "a.md", document(body="Likes tea."))
    call = task_call("forget", time_ms=1_500)
    memory.use(CallingModel([("write_file", {}), ("", {})], until=call.deadline))

    with pytest.raises(TaskTimeout):
        memory.forget("likes tea", call=call)
    assert (memory.roots.user / "a.md").exists()


def test_a_server_that_rejects_us_is_told_and_nothing_is_guessed(memory: TaskMemory) -> None:
    path = put(memory, "a.md", document(body="Likes tea."))
    memory.use(FailingModel(ModelRejected(401)))

    with pytest.raises(ModelRejected):
        memory.forget("likes tea")
    assert path.exists()


@pytest.mark.parametrize(
    "bad",
    [
        ("select_entries", {"ids": ["user:a.md", "user:invented.md"]}),
        ("select_entries", {"ids": "user:a.md"}),
        ("select_entries", {"ids": [f"user:{number}.md" for number in range(21)]}),
        ("select_entries", {}),
        ("write_file", {"file_path": "/x.md", "content": "x"}),
        ("", {}),
    ],
)
def test_an_answer_that_does_not_fit_is_told_and_asked_for_once_more(
    memory: TaskMemory, bad: tuple[str, dict[str, Any]]
) -> None:
    path = put(memory, "a.md", document(body="Likes tea."))
    model = CallingModel([bad, ("select_entries", {"ids": ["user:a.md"]})])
    memory.use(model)

    result = memory.forget("forget that")

    assert not path.exists()
    assert result["usage"]["modelCalls"] == 2
    assert model.asked[1][-1].text.startswith("Error: ")


def test_two_answers_that_do_not_fit_leave_the_literal_rule(memory: TaskMemory) -> None:
    put(memory, "a.md", document(body="Likes tea."))
    kept = put(memory, "b.md", document(body="Likes coffee."))
    invented = ("select_entries", {"ids": ["user:b.md:7"]})
    memory.use(CallingModel([invented, invented, ("select_entries", {"ids": ["user:b.md"]})]))

    assert memory.forget("likes TEA")["removedEntries"][0]["summary"] == "Likes tea."
    assert kept.exists()


def test_a_scope_keeps_the_other_one_out_of_sight(memory: TaskMemory) -> None:
    put(memory, "a.md", document(body="Likes tea."))
    other = memory.roots.project / "a.md"
    other.write_text(document("project", body="Likes tea."))
    model = select("project:a.md")
    memory.use(model)

    result = memory.forget("tea", scope="project")

    assert result["touchedScopes"] == ["project"]
    assert "user:a.md" not in model.asked[0][1].text
    assert (memory.roots.user / "a.md").exists()
    assert not other.exists()


def test_a_document_edited_during_the_selection_is_selected_from_again(memory: TaskMemory) -> None:
    path = put(memory, "a.md", BULLETS)
    model = CallingModel(
        [("select_entries", {"ids": ["user:a.md:0"]})] * 2,
        meanwhile=iter(
            [lambda: path.write_text(BULLETS.replace("- Likes green", "- New\n- Likes green", 1))]
        ),
    )
    memory.use(model)

    memory.forget("tea")

    assert path.read_text() == BULLETS
    assert len(model.asked) == 2


def test_a_document_that_is_edited_with_every_selection_is_a_conflict(memory: TaskMemory) -> None:
    path = put(memory, "a.md", BULLETS)
    edits = (lambda number=number: path.write_text(f"{BULLETS}- New {number}\n") for number in range(9))
    memory.use(CallingModel([("select_entries", {"ids": ["user:a.md:0"]})] * 9, meanwhile=edits))

    with pytest.raises(CommitConflict):
        memory.forget("tea")
    assert "- Likes green tea\n  Why" in path.read_text()


def test_a_task_that_forgot_already_gives_its_recorded_result(memory: TaskMemory) -> None:
    put(memory, "a.md", document(body="Likes tea."))
    call = task_call("forget")
    first = memory.forget("tea", call=call)
    put(memory, "a.md", document(body="Likes tea."))

    assert memory.forget("tea", call=call) == first | {"recovered": True}
    assert (memory.roots.user / "a.md").exists()


def test_a_purge_that_fails_after_the_commit_is_handed_back_and_done_by_the_next_run(
    memory: TaskMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    remembering = task_call("remember")
    memory.remember("Prefers green tea in the morning", call=remembering)
    call, purge = task_call("forget"), Store.purge

    def fail(*_: object) -> None:
        raise StoreUnusable("the history is damaged")

    monkeypatch.setattr(Store, "purge", fail)
    params = ForgetParams(query="green tea in the morning", cwd="/", purge=True)
    with pytest.raises(StoreBusy):
        memory.forget_by(params, call=call)
    monkeypatch.setattr(Store, "purge", purge)

    again = memory.forget_by(params, call=call)

    assert (again["recovered"], again["removedEntries"]) == (True, [])
    assert again["purgedTasks"] == [{"laneId": "test/lane", "taskId": remembering.task.id}]
    kept = b"".join(path.read_bytes() for path in memory.base.rglob("*.json"))
    assert b"green tea" not in kept
