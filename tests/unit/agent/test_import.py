"""Importing documents: all of them in one commit, or nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.errors import DocumentStands, TaskTimeout
from core.acp import ConflictPolicy, Scope
from core.memory_calls import ImportedDocument, ImportParams
from memory.errors import DocumentInvalid
from memory.transaction import MAX_FILES
from tests.support.memory import note, tree
from tests.support.task_memory import TaskMemory, task_call


def document(path: str, content: bytes | None = None, *, scope: Scope = "user") -> ImportedDocument:
    return ImportedDocument(scope=scope, path=path, content=(content or note(path)).decode())


def importing(
    *documents: ImportedDocument, conflict: ConflictPolicy = "fail", skipped: int = 0
) -> ImportParams:
    return ImportParams(cwd="/w", documents=list(documents), conflict=conflict, skipped=skipped)


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_documents_are_written_as_they_are_in_one_revision(memory: TaskMemory) -> None:
    odd = (
        b"\xef\xbb\xbf---\r\ntype: user\r\nname: Tea\r\ndescription: Tea\r\nsource: task=old\r\n---\r\nGreen."
    )

    result = memory.import_documents(
        importing(document("user/tea.md", odd), document("ci.md", scope="project"), skipped=2)
    )

    assert result["summary"] == "Imported 2 documents, skipped 2."
    assert (result["importedDocuments"], result["skippedDocuments"]) == (2, 2)
    assert (result["touchedScopes"], result["revision"]) == (["user", "project"], "r1")
    assert (memory.roots.user / "user/tea.md").read_bytes() == odd
    assert (memory.roots.project / "ci.md").read_bytes() == note("ci.md")
    assert "](user/tea.md)" in (memory.roots.user / "MEMORY.md").read_text()


@pytest.mark.parametrize("conflict", ["fail", "skip", "replace"])
def test_what_is_there_with_the_same_bytes_is_skipped(memory: TaskMemory, conflict: ConflictPolicy) -> None:
    put(memory.roots.user / "tea.md", note("tea.md"))

    result = memory.import_documents(importing(document("tea.md"), conflict=conflict))

    assert (result["summary"], result["touchedScopes"]) == ("Imported 0 documents, skipped 1.", [])
    assert "revision" not in result


def test_a_document_with_other_bytes_fails_the_whole_import(memory: TaskMemory) -> None:
    put(memory.roots.user / "tea.md", note("Mine"))
    before = tree(memory.roots.user, memory.roots.project)

    with pytest.raises(DocumentStands):
        memory.import_documents(importing(document("a.md"), document("tea.md"), document("b.md")))

    assert tree(memory.roots.user, memory.roots.project).keys() - before.keys() <= {
        str(memory.roots.user / "MEMORY.md")
    }


@pytest.mark.parametrize(
    ("conflict", "kept", "counts"), [("skip", "Mine", (1, 1)), ("replace", "tea.md", (2, 0))]
)
def test_a_document_with_other_bytes_is_skipped_or_replaced_if_that_was_asked_for(
    memory: TaskMemory, conflict: ConflictPolicy, kept: str, counts: tuple[int, int]
) -> None:
    put(memory.roots.user / "tea.md", note("Mine"))

    result = memory.import_documents(importing(document("a.md"), document("tea.md"), conflict=conflict))

    assert (memory.roots.user / "tea.md").read_bytes() == note(kept)
    assert (memory.roots.user / "a.md").exists()
    assert (result["importedDocuments"], result["skippedDocuments"]) == counts


def stand_link(root: Path) -> None:
    put(root.parent / "outside.md", note("Outside"))
    (root / "tea.md").symlink_to(root.parent / "outside.md")


def stand_linked_folder(root: Path) -> None:
    (root.parent / "outside").mkdir()
    (root / "sub").symlink_to(root.parent / "outside")


@pytest.mark.parametrize(
    ("path", "stand"),
    [
        ("tea.md", stand_link),
        ("sub/tea.md", stand_linked_folder),
        ("tea.md", lambda root: put(root / "TEA.md", note("Twin"))),
        ("tea.md", lambda root: put(root / "tea.md/inside.md", note("Folder"))),
        ("tea.md/inside.md", lambda root: put(root / "tea.md", note("File"))),
    ],
)
@pytest.mark.parametrize("conflict", ["fail", "skip", "replace"])
def test_nothing_is_written_through_over_or_beside_what_stands_in_the_way(
    memory: TaskMemory, path: str, stand: Callable[[Path], object], conflict: ConflictPolicy
) -> None:
    stand(memory.roots.user)
    before = tree(memory.base)

    with pytest.raises(DocumentStands):
        memory.import_documents(importing(document("a.md"), document(path), conflict=conflict))

    changed = {path for path, content in tree(memory.base).items() if before.get(path) != content}
    assert not [path for path in changed if path.endswith(".md") and not path.endswith("MEMORY.md")]


@pytest.mark.parametrize("path", ["pinned/rule.md", "MEMORY.md", "../outside.md", "", "note.txt"])
def test_a_caller_that_is_not_ours_can_write_nowhere_else_either(memory: TaskMemory, path: str) -> None:
    before = tree(memory.roots.user.parent)

    with pytest.raises(DocumentStands):
        memory.import_documents(importing(document("a.md"), document(path, note()), conflict="replace"))

    assert tree(memory.roots.user).keys() <= before.keys() | {str(memory.roots.user / "MEMORY.md")}


def test_a_document_that_is_not_well_formed_fails_the_whole_import(memory: TaskMemory) -> None:
    with pytest.raises(DocumentInvalid):
        memory.import_documents(importing(document("a.md"), document("b.md", b"no header")))

    assert not (memory.roots.user / "a.md").exists()


def test_an_import_of_more_documents_than_a_task_may_change_is_one_revision_with_its_index(
    memory: TaskMemory,
) -> None:
    count = MAX_FILES + 20  # more than are parsed under the lock, too
    documents = [document(f"user/note-{number}.md") for number in range(count)]

    result = memory.import_documents(importing(*documents))

    assert (result["importedDocuments"], result["revision"]) == (count, "r1")
    assert len(list((memory.roots.user / "user").iterdir())) == count
    assert len((memory.roots.user / "MEMORY.md").read_text().splitlines()) == count


def test_a_repeated_import_gives_its_recorded_result(memory: TaskMemory) -> None:
    call = task_call("import")
    first = memory.import_documents(importing(document("a.md")), call=call)
    (memory.roots.user / "a.md").unlink()

    again = memory.import_documents(importing(document("a.md")), call=call)

    assert again == first | {"recovered": True}
    assert not (memory.roots.user / "a.md").exists()


def test_an_import_without_time_does_nothing(memory: TaskMemory) -> None:
    with pytest.raises(TaskTimeout):
        memory.import_documents(importing(document("a.md")), call=task_call("import", time_ms=0))

    assert not (memory.roots.user / "a.md").exists()
