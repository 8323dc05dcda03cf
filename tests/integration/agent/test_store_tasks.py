"""Dry runs, their application, and taking a revision back, by the real child without a model."""

import hashlib
from typing import Any

import pytest

from core import acp
from core.ids import Kind, new_task_id
from tests.support.agent_child import AgentChild, assert_failed, task_params


def run(child: AgentChild, method: str, kind: Kind, **params: Any) -> Any:
    return child.call(method, task_params(child, kind, **params))


@pytest.fixture
def preview(offline: AgentChild) -> str:
    """Id of a dry run that would forget tea; coffee stays."""
    offline.remember("Prefers green tea in the morning")
    offline.remember("Uses the vim editor")
    task = new_task_id("forget")
    result = run(offline, acp.FORGET, "forget", query="green tea in the morning", task=task, dry_run=True)
    assert [entry["topic"] for entry in result["removedEntries"]] == ["user"]
    return task


def test_a_dry_run_shows_what_it_would_do_and_changes_nothing(offline: AgentChild):
    offline.remember("Prefers green tea in the morning")
    before = offline.documents()

    result = run(offline, acp.FORGET, "forget", query="green tea in the morning", dry_run=True)

    assert result["summary"] == "Preview: Managed auto-memory forgot 1 entry from: user/"
    (diff,) = result["preview"]["diff"]
    assert (result["preview"]["baseRevision"], diff["change"]) == ("r1", "deleted")
    assert "-Prefers green tea in the morning" in diff["diff"]
    assert "revision" not in result
    assert offline.documents() == before


@pytest.mark.parametrize(
    ("method", "kind", "params"),
    [
        (acp.REMEMBER, "remember", {"content": "Prefers green tea"}),
        (acp.DREAM, "dream", {"scope": "user"}),
    ],
)
def test_every_kind_can_be_tried_out(offline: AgentChild, method: str, kind: Kind, params: dict[str, str]):
    offline.remember("Uses the vim editor")
    before = offline.documents()

    result = run(offline, method, kind, **params, dry_run=True)

    assert result["preview"]["baseRevision"] == "r1"
    assert offline.documents() == before


def test_a_dream_that_was_only_tried_out_is_dreamt_again(offline: AgentChild):
    for folder in ("a", "b"):
        file = offline.project_root / folder / "tea.md"
        file.parent.mkdir(parents=True)
        file.write_text("---\ntype: project\nname: Tea\ndescription: Tea\n---\n\nThe kettle is green.\n")

    tried = run(offline, acp.DREAM, "dream", dry_run=True)
    dreamt = run(offline, acp.DREAM, "dream")

    assert [diff["change"] for diff in tried["preview"]["diff"]] == ["deleted"]
    assert tried["dedupedEntries"] == dreamt["dedupedEntries"] == 1


def test_a_preview_is_applied_exactly_and_by_no_agent(offline: AgentChild, preview: str):
    result = run(offline, acp.APPLY, "forget", preview=preview)

    assert result["summary"] == "Managed auto-memory forgot 1 entry from: user/"
    assert (result["touchedScopes"], result["revision"]) == (["user"], "r4")
    assert "preview" not in result
    assert [b"green tea" in text for text in offline.documents().values()] == [False]


def test_a_preview_goes_stale_when_its_document_changes(offline: AgentChild, preview: str):
    (tea,) = [path for path, text in offline.documents().items() if b"green tea" in text]
    (offline.base / tea).write_bytes((offline.base / tea).read_bytes() + b"\nMore.\n")
    before = offline.documents()

    assert_failed(run(offline, acp.APPLY, "forget", preview=preview), "preview_stale", method="apply")
    assert offline.documents() == before


def test_an_unknown_preview_is_stale(offline: AgentChild):
    assert_failed(
        run(offline, acp.APPLY, "forget", preview=new_task_id("forget")), "preview_stale", method="apply"
    )


def test_what_was_applied_is_told_again_to_the_same_task(offline: AgentChild, preview: str):
    task = new_task_id("forget")
    first = run(offline, acp.APPLY, "forget", preview=preview, task=task)

    again = run(offline, acp.APPLY, "forget", preview=preview, task=task)

    assert again == first | {"recovered": True}


def test_a_forget_is_taken_back_byte_by_byte_and_the_undo_too(offline: AgentChild):
    offline.remember("Prefers green tea in the morning")
    before = offline.documents()
    run(offline, acp.FORGET, "forget", query="green tea in the morning")
    assert offline.documents() == {}

    undone = run(offline, acp.UNDO, "undo", revision="r2")

    assert (undone["summary"], undone["touchedScopes"], undone["revision"]) == (
        "Took r2 back.",
        ["user"],
        "r3",
    )
    assert offline.documents() == before
    run(offline, acp.UNDO, "undo", revision="r3")
    assert offline.documents() == {}


def test_a_revision_that_is_taken_back_already_stays_so(offline: AgentChild):
    offline.remember("Prefers green tea")
    run(offline, acp.UNDO, "undo", revision="r1")

    again = run(offline, acp.UNDO, "undo", revision="r1")

    assert (again["summary"], again["touchedScopes"]) == ("r1 was taken back before.", [])


def test_an_undo_that_later_edits_stand_against_changes_nothing(offline: AgentChild):
    offline.remember("Prefers green tea")
    ((path, _),) = offline.documents().items()
    (offline.base / path).write_text("---\ntype: user\nname: Mine\ndescription: Mine\n---\n\nMine.\n")
    before = offline.documents()

    assert_failed(
        run(offline, acp.UNDO, "undo", revision="r1", timeout_ms=60_000), "memory_conflict", method="undo"
    )
    assert offline.documents() == before


def test_an_unknown_revision_is_told(offline: AgentChild):
    assert_failed(run(offline, acp.UNDO, "undo", revision="r9"), "revision_not_found", method="undo")


def test_what_is_purged_leaves_no_byte_behind_and_is_done_again_when_asked_again(offline: AgentChild):
    offline.remember("Prefers green tea in the morning")
    task = new_task_id("forget")

    results = [
        run(offline, acp.FORGET, "forget", query="green tea in the morning", task=task, purge=True)
        for _ in range(2)
    ]

    assert offline.documents() == {}
    for result in results:
        assert (result["removedEntries"], result["revision"]) == ([], "r2")
        assert "green tea" not in str(result)
    assert_failed(run(offline, acp.UNDO, "undo", revision="r2"), "revision_not_found", method="undo")
    offline.stop()  # while it lives it may bring the history up to the journal
    kept = b"".join(path.read_bytes() for path in offline.base.rglob("*") if path.is_file())
    assert b"green tea" not in kept


@pytest.mark.parametrize(
    ("method", "kind", "params"),
    [
        (acp.UNDO, "undo", {"revision": "9"}),
        (acp.UNDO, "undo", {}),
        (acp.APPLY, "forget", {"preview": "forget-1"}),
        (acp.APPLY, "undo", {"preview": new_task_id("forget")}),
    ],
)
def test_params_that_do_not_fit_are_refused(
    offline: AgentChild, method: str, kind: Kind, params: dict[str, str]
):
    assert run(offline, method, kind, **params).error_code == -32602


def imported(path: str, content: str, scope: str = "user") -> dict[str, str]:
    return {"scope": scope, "path": path, "content": content}


TEA = "---\ntype: user\nname: Tea\ndescription: Tea\n---\n\nGreen.\n"


def test_an_import_is_one_revision_that_can_be_taken_back(offline: AgentChild):
    documents = [imported("user/tea.md", TEA), imported("project/ci.md", TEA, "project")]

    result = run(offline, acp.IMPORT, "import", documents=documents, skipped=1)

    assert (result["summary"], result["revision"]) == ("Imported 2 documents, skipped 1.", "r1")
    assert set(offline.documents().values()) == {TEA.encode()}
    run(offline, acp.UNDO, "undo", revision="r1")
    assert offline.documents() == {}


def test_an_import_over_another_document_is_a_conflict_unless_it_may_replace_it(offline: AgentChild):
    run(offline, acp.IMPORT, "import", documents=[imported("tea.md", TEA)])
    other = [imported("tea.md", TEA.replace("Green", "Black")), imported("more.md", TEA)]

    assert_failed(run(offline, acp.IMPORT, "import", documents=other), "memory_conflict", method="import")
    assert list(offline.documents()) == ["memories/tea.md"]
    assert run(offline, acp.IMPORT, "import", documents=other, conflict="replace")["revision"] == "r2"


def test_an_import_can_be_tried_out(offline: AgentChild):
    result = run(offline, acp.IMPORT, "import", documents=[imported("tea.md", TEA)], dry_run=True)

    assert [diff["change"] for diff in result["preview"]["diff"]] == ["created"]
    assert offline.documents() == {}


def test_what_waits_is_approved_as_it_was_read_and_counts_from_then_on(offline: AgentChild):
    waiting = offline.base / "memories/vendor.md"
    waiting.parent.mkdir(exist_ok=True)
    waiting.write_text(TEA.replace("type", 'review: "true"\ntype', 1))
    seen = hashlib.sha256(waiting.read_bytes()).hexdigest()
    named = {"scope": "user", "path": "vendor.md", "decision": "approve"}

    other = run(offline, acp.REVIEW, "review", **named, sha256="0" * 64)
    result = run(offline, acp.REVIEW, "review", **named, sha256=seen)

    assert_failed(other, "memory_conflict", method="review")
    assert (result["summary"], result["revision"]) == ("Approved user/vendor.md.", "r1")
    assert waiting.read_text() == TEA
    assert "(vendor.md)" in (waiting.parent / "MEMORY.md").read_text()
