"""What the agent child is asked for, and which part of its answer callers see."""

import pytest

from core import acp
from core.memory_calls import DreamResult, ForgetResult, Preview, RememberResult, TaskResult
from jobs.calls import call_of, result_of
from jobs.errors import InvalidTaskInput

PREVIEW = Preview(base_revision="r1", diff=[])
ENTRY = {"topic": "user", "summary": "Likes tea", "filePath": "/m/a.md", "entryIndex": 2}
FORGOTTEN = {
    "summary": "Managed auto-memory forgot 1 entry from: user/",
    "removedEntries": [ENTRY],
    "touchedTopics": ["user"],
    "touchedScopes": ["user"],
}
DREAMT = {"summary": "Merged.", "touchedTopics": ["project"], "dedupedEntries": 1}
DOCUMENT = {"scope": "user", "path": "tea.md", "content": "Tea"}
REVIEW = {"scope": "user", "path": "tea.md", "decision": "approve", "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("kind", "task_input", "method", "params"),
    [
        ("forget", {"query": "tea", "scope": "user"}, acp.FORGET, {"query": "tea", "scope": "user"}),
        ("dream", {}, acp.DREAM, {}),
        ("undo", {"revision": "r7"}, acp.UNDO, {"revision": "r7"}),
        (
            "import",
            {"documents": [DOCUMENT], "conflict": "skip", "skipped": 2},
            acp.IMPORT,
            {"documents": [DOCUMENT], "conflict": "skip", "skipped": 2},
        ),
        ("review", REVIEW, acp.REVIEW, REVIEW),
        ("forget", {"applyOf": "forget-1"}, acp.APPLY, {"preview": "forget-1"}),
    ],
)
def test_each_kind_has_its_method(kind, task_input, method, params):
    call = call_of(kind, task_input, workspace="/w")

    assert (call.method, call.params.to_wire()) == (method, params | {"cwd": "/w"})


@pytest.mark.parametrize(
    ("kind", "task_input"), [("remember", {"content": 7}), ("undo", {}), ("dream", {"applyOf": ["dream-1"]})]
)
def test_a_stored_request_that_its_kind_does_not_know_is_refused_without_its_words(kind, task_input):
    with pytest.raises(InvalidTaskInput, match=r"field\(s\) don't fit$"):
        call_of(kind, task_input, workspace="/w")


def test_an_applied_preview_has_the_result_of_its_kind():
    assert call_of("dream", {"applyOf": "dream-1"}, workspace="/w").result is DreamResult


def test_a_recorded_result_is_told_as_recovered():
    assert result_of("forget", FORGOTTEN).recovered


def test_callers_see_the_contracts_part_of_a_forget():
    shown = ForgetResult.model_validate(FORGOTTEN | {"revision": "r1"}).to_public()

    assert shown == FORGOTTEN | {"removedEntries": [{k: ENTRY[k] for k in ("topic", "summary", "filePath")}]}


def test_callers_see_the_contracts_part_of_a_dream():
    shown = DreamResult.model_validate(DREAMT | {"touchedScopes": ["project"]}).to_public()

    assert shown == DREAMT


def test_a_dream_changed_memory_where_it_was_found_changed_whatever_topics_it_tells():
    assert DreamResult.model_validate(DREAMT).changed_scopes == []
    assert DreamResult.model_validate(DREAMT | {"touchedScopes": ["user"]}).changed_scopes == ["user"]


@pytest.mark.parametrize(
    "result",
    [
        ForgetResult.model_validate(FORGOTTEN | {"preview": PREVIEW}),
        DreamResult.model_validate(DREAMT | {"preview": PREVIEW}),
    ],
)
def test_a_preview_has_changed_nothing(result: TaskResult):
    assert result.changed_scopes == []


def test_a_child_that_touched_no_file_has_remembered_nothing_new():
    assert RememberResult(summary="", files_touched=[], touched_scopes=["user"]).changed_scopes == []
