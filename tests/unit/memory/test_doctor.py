import json
import os
import shutil

import pytest

from memory import checkup
from memory.doctor import all_roots, examine, mend, workspace_roots
from memory.errors import StoreUnusable
from memory.index import build_index
from memory.names import MAX_DEPTH
from memory.paths import OWNER_NAME, project_names
from memory.store import open_store
from memory.validation import MAX_FILE_BYTES
from tests.support.memory import FolderAt, MemoryBase, fenced_task, note, tree


@pytest.fixture(autouse=True)
def private_umask():
    before = os.umask(0o077)
    yield
    os.umask(before)


def found(memory_base):
    """Code and path of each finding, relative to the base."""
    findings = examine(memory_base.path, all_roots(memory_base.path), settled_ms=0)
    return [(one.code, str((one.folder / one.path).relative_to(memory_base.path))) for one in findings]


def put(memory_base, path, content):
    """Write a file into the user root and make the index as a task would."""
    place = memory_base.put(memory_base.user / path, content)
    index = build_index(memory_base.user)
    if index:
        memory_base.put(memory_base.user / "MEMORY.md", index.encode())
    return place


def mend_all(memory_base):
    roots = all_roots(memory_base.path)
    mend(memory_base.path, examine(memory_base.path, roots, settled_ms=0))
    return found(memory_base)


def test_a_memory_that_only_tasks_have_written_has_no_findings(memory_base):
    store = open_store(memory_base.path)
    edits = {memory_base.user / "user/tea.md": note(), memory_base.project / "project/a.md": note()}
    memory_base.commit(store, fenced_task(), edits)

    assert found(memory_base) == []


def test_a_base_without_any_memory_has_no_findings(tmp_path):
    assert examine(tmp_path, all_roots(tmp_path)) == ()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"no header", "document_malformed"),
        (b"---\ntype: other\nname: a\ndescription: b\n---\n", "document_malformed"),
        (b"---\ntype: user\nname: a\n---\n", "document_malformed"),
        (note() + b"\0", "document_malformed"),
        (note() + b"caf\xe9", "document_not_utf8"),
        (note(body="x" * MAX_FILE_BYTES), "document_too_large"),
        (note().replace(b"---\n\n", b"expires: soon\n---\n\n"), "expires_unreadable"),
    ],
    ids=["no header", "type", "description", "NUL", "UTF-8", "size", "expires"],
)
def test_a_document_with_a_fault_is_found(memory_base, content, code):
    put(memory_base, "user/a.md", content)

    assert found(memory_base) == [(code, "memories/user/a.md")]


def test_placeholders_and_odd_bodies_are_no_faults(memory_base):
    put(memory_base, "user/a.md", note(body="[rest unchanged]\n\u2028\r\n- a"))
    put(memory_base, "pinned/b.md", note())
    put(memory_base, "user/notes.txt", b"\xff")

    assert found(memory_base) == []


def test_what_a_finding_says_quotes_no_text_and_names_a_mend(memory_base):
    put(memory_base, "user/a.md", b"secret text without a header")

    (finding,) = examine(memory_base.path, [memory_base.user])

    assert finding.place == str(memory_base.user / "user/a.md")
    assert "secret" not in finding.sentence
    assert finding.mend
    assert not finding.is_mendable


@pytest.mark.parametrize(
    ("one", "other"), [("a.md", "A.md"), ("caf\u00e9.md", "cafe\u0301.md"), ("A/x.md", "a/y.md")]
)
def test_names_that_some_file_systems_take_for_one_are_found(memory_base, one, other):
    put(memory_base, one, note("One"))
    put(memory_base, other, note("Other"))

    assert [code for code, _ in found(memory_base)] == ["name_twin"]


def test_links_are_found(memory_base, tmp_path):
    put(memory_base, "a.md", note())
    (memory_base.user / "b.md").symlink_to(memory_base.user / "a.md")
    (memory_base.user / "c.md").hardlink_to(memory_base.put(tmp_path / "other.md", note()))

    assert sorted(found(memory_base)) == [("link", "memories/b.md"), ("link", "memories/c.md")]


def test_a_root_that_is_a_link_is_found(memory_base, tmp_path):
    memory_base.user.rmdir()
    memory_base.user.symlink_to(tmp_path)

    assert found(memory_base) == [("unreadable", "memories")]


def test_a_folder_that_lies_too_deep_is_found(memory_base):
    folders = "/".join("f" for _ in range(MAX_DEPTH + 1))
    put(memory_base, f"{folders}/a.md", note())

    assert found(memory_base) == [("folder_too_deep", f"memories/{folders}")]


def test_more_documents_than_are_read_are_found(memory_base, monkeypatch):
    put(memory_base, "a.md", note())
    put(memory_base, "b.md", note())
    monkeypatch.setattr(checkup, "MAX_DOCUMENTS", 1)

    assert found(memory_base) == [("too_many_documents", "memories")]


def test_a_link_among_the_project_folders_is_no_project(memory_base, tmp_path):
    (memory_base.path / "projects/-link").symlink_to(tmp_path)

    assert found(memory_base) == []
    assert set(all_roots(memory_base.path)) == {memory_base.user, memory_base.project}


def test_an_index_that_says_something_else_is_found_and_made_again(memory_base):
    open_store(memory_base.path)
    put(memory_base, "a.md", note())
    memory_base.put(
        memory_base.user / "MEMORY.md", b"# Mine\n- [Gone](gone.md) \xe2\x80\x94 x\n- [Web](https://x.md)\n"
    )

    before, left = found(memory_base), mend_all(memory_base)

    assert before == [("index_drift", "memories"), ("index_dangling", "memories")]
    assert left == []
    assert (memory_base.user / "MEMORY.md").read_text() == build_index(memory_base.user)


def test_an_index_of_more_documents_than_a_lock_holder_parses_is_made_again(memory_base):
    open_store(memory_base.path)
    for number in range(100):
        memory_base.put(memory_base.user / f"{number}.md", note(f"Note {number}"))

    assert mend_all(memory_base) == []


def test_permissions_are_found_and_taken_away(memory_base):
    open_store(memory_base.path)
    document = put(memory_base, "user/a.md", note())
    document.chmod(0o644)
    document.parent.chmod(0o755)
    (memory_base.path / "memlane/lock").chmod(0o666)

    before, left = found(memory_base), mend_all(memory_base)

    assert before == [("mode", "memlane/lock"), ("mode", "memories/user"), ("mode", "memories/user/a.md")]
    assert left == []
    assert document.stat().st_mode & 0o777 == 0o600


def test_permissions_are_mended_without_a_store(memory_base):
    memory_base.user.chmod(0o755)

    assert mend_all(memory_base) == []
    assert not (memory_base.path / "memlane").exists()


def test_a_link_put_in_the_place_of_a_finding_is_not_followed(memory_base, tmp_path):
    target = memory_base.put(tmp_path / "target", b"")
    target.chmod(0o644)
    document = put(memory_base, "a.md", note())
    document.chmod(0o644)
    findings = examine(memory_base.path, [memory_base.user])
    document.unlink()
    document.symlink_to(target)

    mend(memory_base.path, findings)

    assert target.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("suffix", "copies"), [(".part", []), (".index", []), (".tmp", [b"left"]), (".old", [b"left"])]
)
def test_a_temporary_file_left_behind_is_removed_and_kept_where_it_may_be_foreign(
    memory_base, suffix, copies
):
    open_store(memory_base.path)
    left = memory_base.put(memory_base.user / f"user/.memlane-0-0{suffix}", b"left")

    before, after = found(memory_base), mend_all(memory_base)

    assert before == [("temporary_left", f"memories/user/.memlane-0-0{suffix}")]
    assert after == []
    assert not left.exists()
    assert [kept.read_bytes() for kept in (memory_base.path / "memlane/external").glob("*.bytes")] == copies


def test_a_temporary_file_that_may_be_in_use_is_left_alone(memory_base):
    memory_base.put(memory_base.user / ".memlane-0-0.part", b"new")

    assert examine(memory_base.path, [memory_base.user]) == ()


def test_a_folder_with_a_temporary_name_is_nobodys_trouble(memory_base):
    memory_base.put(memory_base.user / ".memlane-0/a.md", b"x")

    assert found(memory_base) == []


def test_what_a_blocked_commit_needs_is_left_alone(memory_base):
    place = memory_base.user / "a.md"
    store = open_store(memory_base.path, checkpoint=FolderAt("journal durable", place))
    memory_base.commit(store, fenced_task(), {place: note()})
    memory_base.put(memory_base.user / ".memlane-0-0.tmp", b"needed")

    assert found(memory_base) == [("root_blocked", "memories")]

    place.rmdir()
    open_store(memory_base.path).seal(fenced_task(2))
    assert place.read_bytes() == note()


def test_a_damaged_store_is_found_and_nothing_is_removed(memory_base):
    open_store(memory_base.path)
    memory_base.put(memory_base.path / "memlane/state/applied.json", b"{")
    memory_base.put(memory_base.path / "memlane/state/applied", b"{")
    memory_base.put(memory_base.user / ".memlane-0-0.tmp", b"needed?")
    before = tree(memory_base.user)

    assert found(memory_base) == [("store_damaged", "memlane")]
    assert mend_all(memory_base) == [("store_damaged", "memlane")]
    assert tree(memory_base.user) == before


def test_an_index_is_not_mended_where_no_store_is(memory_base):
    memory_base.put(memory_base.user / "a.md", note())
    findings = examine(memory_base.path, [memory_base.user])

    with pytest.raises(StoreUnusable, match="there is no memory store"):
        mend(memory_base.path, findings)

    assert not (memory_base.path / "memlane").exists()
    assert not (memory_base.user / "MEMORY.md").exists()


def test_a_damaged_owner_record_is_found(memory_base):
    record = memory_base.project.parent / OWNER_NAME
    record.write_bytes(b"{")

    name = memory_base.project.parent.name
    assert found(memory_base) == [("owner_damaged", f"projects/{name}/{OWNER_NAME}")]
    assert workspace_roots(memory_base.path, str(memory_base.workspace)) == (memory_base.user,)


def test_a_second_project_folder_of_one_workspace_is_found(memory_base):
    second = project_names(str(memory_base.workspace))[1]
    shutil.copytree(memory_base.project.parent, memory_base.path / "projects" / second)

    assert found(memory_base) == [("project_duplicate", f"projects/{second}")]


def test_a_project_folder_that_its_workspace_does_not_look_for_is_found(memory_base):
    owner = json.dumps({"workspace": "/srv/elsewhere"}).encode()
    memory_base.put(memory_base.path / "projects/-copied" / OWNER_NAME, owner)

    assert found(memory_base) == [("owner_misplaced", "projects/-copied")]


def test_a_project_folder_of_another_tool_is_no_trouble(memory_base):
    memory_base.put(memory_base.path / "projects/-other/chats/a.jsonl", b"")

    assert found(memory_base) == []


def test_the_roots_of_a_workspace_are_those_that_tasks_use(tmp_path):
    first, second = MemoryBase(tmp_path, workspace="a-b"), MemoryBase(tmp_path, workspace="a_b")

    for memory_base in (first, second):
        roots = workspace_roots(memory_base.path, str(memory_base.workspace))
        assert roots == (memory_base.user, memory_base.project)
    assert set(all_roots(first.path)) == {first.user, first.project, second.project}


def test_looking_for_the_roots_of_a_workspace_makes_nothing(tmp_path):
    assert workspace_roots(tmp_path, "/srv/new") == (tmp_path / "memories",)
    assert workspace_roots(tmp_path, "/srv/new", local=True)[1] == tmp_path.__class__("/srv/new/.qwen/memory")
    assert list(tmp_path.iterdir()) == []
