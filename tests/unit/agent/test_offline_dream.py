"""What the offline model makes of a memory in a dream."""

from pathlib import Path

import pytest

from tests.support.memory import note, tree
from tests.support.planted_memory import CONTRADICTORY, EXACT, REWORDED, plant
from tests.support.task_memory import TaskMemory


def put(memory: TaskMemory, path: str, body: str, *, name: str = "Note", extra: str = "") -> Path:
    file = memory.roots.project / path
    file.parent.mkdir(parents=True, exist_ok=True)
    content = note(name, kind="project", body=f"\n{body}\n").decode()
    file.write_text(content.replace("description: ", f"{extra}description: "))
    return file


def test_ten_planted_duplicates_among_two_hundred_documents_are_merged_and_nothing_else(
    memory: TaskMemory,
) -> None:
    planted = plant(memory.roots.project)
    before = tree(memory.roots.project)

    result = memory.dream()

    after = tree(memory.roots.project)
    gone = {Path(path).name for path in before.keys() - after.keys()}
    assert len(before) == 200
    assert all(len(gone & {f"{pair}-a.md", f"{pair}-b.md"}) == 1 for pair in planted[EXACT])
    assert not any(gone & {f"{pair}-a.md", f"{pair}-b.md"} for pair in planted[CONTRADICTORY])
    reworded = sum(bool(gone & {f"{pair}-a.md", f"{pair}-b.md"}) for pair in planted[REWORDED])
    assert len(gone) == 10 + reworded
    assert reworded == 5
    assert result["dedupedEntries"] == len(gone)
    assert {path: content for path, content in after.items() if not path.endswith("MEMORY.md")}.items() <= (
        before.items()
    )


def test_a_second_dream_changes_nothing_and_asks_nobody(memory: TaskMemory) -> None:
    plant(memory.roots.project)
    memory.dream()
    before = tree(memory.roots.project.parent)

    again = memory.dream()

    assert again["summary"] == "Managed auto-memory dream (agent): Nothing needed consolidation."
    assert again["usage"]["modelCalls"] == 0
    assert (again["touchedTopics"], again["dedupedEntries"]) == ([], 0)
    assert tree(memory.roots.project.parent) == before


def test_a_richer_wording_stays_as_it_is(memory: TaskMemory) -> None:
    rich = put(memory, "b.md", "Please remember that the release is on Friday.", name="Release")
    put(memory, "a.md", "The release is on Friday", name="Release")
    before = rich.read_bytes()

    result = memory.dream()

    assert result["summary"] == "Managed auto-memory dream (agent): Merged duplicates into 1 documents."
    assert (result["touchedTopics"], result["touchedScopes"]) == (["project"], ["project"])
    assert rich.read_bytes() == before
    assert not (memory.roots.project / "a.md").exists()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"body": "Deploys are on Friday."}, {"body": "Deploys are on Monday."}),
        ({"body": "Deploys are on Friday."}, {"body": "Deploys are not on Friday."}),
        ({"body": "Use tabs."}, {"body": "Use tabs in Makefiles."}),
        ({"body": "Port 80 is open."}, {"body": "Port 8080 is open."}),
        ({"body": "Deploy on Friday.", "name": "Berlin"}, {"body": "Deploy on Friday.", "name": "Tokyo"}),
        ({"body": "Deploy on Friday.", "name": "Rule"}, {"body": "Deploy on Friday.", "name": "No rule"}),
        (
            {"body": "Deploy on Friday.", "extra": "category: a\n"},
            {"body": "Deploy on Friday.", "extra": "category: b\n"},
        ),
        (
            {"body": "Deploy on Friday.", "extra": "review: true\n"},
            {"body": "Deploy on Friday.", "extra": "review: true\n"},
        ),
        ({"body": ""}, {"body": ""}),
    ],
)
def test_what_may_differ_stays_apart(memory: TaskMemory, one: dict[str, str], other: dict[str, str]) -> None:
    put(memory, "a.md", **one)
    put(memory, "b.md", **other)
    before = tree(memory.roots.project)

    result = memory.dream()

    assert result["dedupedEntries"] == 0
    assert tree(memory.roots.project).items() >= before.items()


def test_a_pinned_document_is_neither_removed_nor_written(memory: TaskMemory) -> None:
    pinned = put(memory, "pinned/a.md", "Deploy on Friday.")
    copy = put(memory, "z.md", "Deploy on Friday.")

    memory.dream()

    assert pinned.exists()
    assert copy.exists()


def test_more_duplicates_than_one_task_may_change_are_merged_by_the_dreams_that_follow(
    memory: TaskMemory,
) -> None:
    for number in range(60):
        put(memory, f"{number}-a.md", f"Server {number} is green.", name=f"Server {number}")
        put(memory, f"{number}-b.md", f"Server {number} is green.", name=f"Server {number}")

    counts = [memory.dream()["dedupedEntries"] for _ in range(3)]

    assert counts == [50, 10, 0]
