import os
import socket

import pytest

from memory.errors import DocumentMissing, PathEscape, PathRefused, TooLarge
from memory.paths import Roots
from memory.transaction import Change, ListedName, Transaction
from tests.support.memory import fenced_task, note


@pytest.fixture
def tea(memory_base):
    return memory_base.put(memory_base.user / "user/tea.md", note("Tea"))


def test_it_reads_what_it_wrote_and_the_disk_stays(memory_base, tea):
    transaction = memory_base.transaction()

    transaction.write(str(tea), note("New"))

    assert transaction.read(str(tea)) == note("New")
    assert tea.read_bytes() == note("Tea")
    assert transaction.changes == (Change(str(tea), "user", note("Tea"), note("New")),)


def test_a_removed_document_is_missing_for_the_task_alone(memory_base, tea):
    transaction = memory_base.transaction()

    transaction.remove(str(tea))

    assert not transaction.exists(str(tea))
    with pytest.raises(DocumentMissing):
        transaction.read(str(tea))
    with pytest.raises(DocumentMissing):
        transaction.remove(str(tea))
    assert list(transaction.documents("user")) == []
    assert transaction.list_directory(str(tea.parent)) == ()
    assert tea.exists()


def test_edits_that_end_where_they_began_are_no_change(memory_base, tea):
    transaction = memory_base.transaction()
    transaction.write(str(tea), note("New"))
    transaction.write(str(tea), note("Tea"))
    transaction.write(str(memory_base.user / "x.md"), note())
    transaction.remove(str(memory_base.user / "x.md"))

    assert transaction.changes == ()


def test_it_knows_what_it_has_read(memory_base, tea):
    transaction = memory_base.transaction()
    other = str(memory_base.user / "other.md")
    with pytest.raises(DocumentMissing):
        transaction.read(other)

    before = [transaction.has_read(path) for path in (str(tea), other)]
    transaction.read(str(tea))
    transaction.write(other, note())

    assert before == [False, False]
    assert [
        transaction.has_read(path) for path in (str(tea), f"{memory_base.user}//user/./tea.md", other)
    ] == [True] * 3


def test_listings_show_staged_documents_folders_first(memory_base, tea):
    transaction = memory_base.transaction()
    memory_base.put(memory_base.user / "a.md", note())
    memory_base.put(memory_base.user / "MEMORY.md", b"")
    memory_base.put(memory_base.user / ".memlane-0123-0.tmp", b"")
    (memory_base.user / "link.md").symlink_to(tea)
    transaction.write(str(memory_base.user / "zoo/b.md"), note())
    transaction.write(str(memory_base.user / "b.md"), note())

    assert transaction.list_directory(str(memory_base.user)) == (
        ListedName("user", True),
        ListedName("zoo", True),
        ListedName("MEMORY.md", False),
        ListedName("a.md", False),
        ListedName("b.md", False),
    )
    assert transaction.list_directory(str(memory_base.user / "zoo")) == (ListedName("b.md", False),)
    assert list(transaction.documents("user")) == [
        str(memory_base.user / name) for name in ("a.md", "b.md", "user/tea.md", "zoo/b.md")
    ]


def test_a_missing_folder_can_not_be_listed_but_a_missing_root_is_empty(memory_base):
    transaction = memory_base.transaction()
    memory_base.project.rmdir()

    with pytest.raises(DocumentMissing):
        transaction.list_directory(str(memory_base.user / "none"))
    assert transaction.list_directory(str(memory_base.project)) == ()
    assert list(transaction.documents("project")) == []


def test_it_tells_what_exists(memory_base, tea):
    transaction = memory_base.transaction()
    transaction.write(str(memory_base.user / "new/x.md"), note())

    paths = ["user/tea.md", "user", "new", "new/x.md", "", "none", "none/x.md"]

    assert [transaction.exists(f"{memory_base.user}/{path}") for path in paths] == [True] * 5 + [False] * 2


def test_the_scope_of_a_path_is_its_root(memory_base):
    transaction = memory_base.transaction()

    assert transaction.scope_of(str(memory_base.user)) == "user"
    assert transaction.scope_of(f"{memory_base.project}/not/there.md") == "project"


def outside_paths(memory_base):
    return [
        "relative.md",
        "",
        f"{memory_base.user}/../x.md",
        f"{memory_base.user}/a/../../x.md",
        "/etc/passwd",
        f"{memory_base.user}-evil/x.md",
        str(memory_base.path),
    ]


def test_paths_outside_are_refused_whatever_is_asked(memory_base, tea):
    transaction = memory_base.transaction()
    calls = [
        transaction.scope_of,
        transaction.read,
        transaction.exists,
        transaction.has_read,
        transaction.remove,
        transaction.list_directory,
        lambda path: transaction.write(path, note()),
    ]
    for path in outside_paths(memory_base):
        for call in calls:
            with pytest.raises(PathEscape):
                call(path)
    assert transaction.changes == ()


def test_links_are_refused_in_any_step(memory_base, tea, tmp_path):
    target = memory_base.put(tmp_path / "outside/x.md", b"secret")
    (memory_base.user / "leaf.md").symlink_to(target)
    (memory_base.user / "dangling.md").symlink_to(tmp_path / "none.md")
    (memory_base.user / "folder").symlink_to(target.parent)
    (memory_base.user / "hard.md").hardlink_to(target)
    transaction = memory_base.transaction()

    for name in ("leaf.md", "dangling.md", "folder/x.md", "folder/new.md", "hard.md"):
        for call in (transaction.read, transaction.remove, transaction.exists):
            with pytest.raises(PathEscape):
                call(str(memory_base.user / name))
        with pytest.raises(PathEscape):
            transaction.write(str(memory_base.user / name), note())
    with pytest.raises(PathEscape):
        transaction.list_directory(str(memory_base.user / "folder"))
    assert target.read_bytes() == b"secret"


def test_what_is_no_regular_file_is_refused_without_waiting(memory_base):
    os.mkfifo(memory_base.user / "fifo.md")
    (memory_base.user / "folder.md").mkdir()
    here = os.open(memory_base.user, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{here}/socket.md")
    os.close(here)
    memory_base.put(memory_base.user / "file.md", note())
    transaction = memory_base.transaction()

    for name in ("fifo.md", "folder.md", "socket.md", "", "file.md/x.md"):
        with pytest.raises(PathRefused):
            transaction.read(f"{memory_base.user}/{name}")
        with pytest.raises(PathRefused):
            transaction.write(f"{memory_base.user}/{name}", note())


@pytest.mark.parametrize(
    "name",
    [
        "a.txt",
        "a.MD",
        "a",
        ".md",
        "MEMORY.md",
        "memory.md",
        "sub/Memory.md",
        "pinned/a.md",
        "PINNED/a.md",
        "a\nb.md",
        "a\u202eb.md",
        "a\0.md",
        "x" * 253 + ".md",
        "/".join(["d" * 200] * 16) + "/a.md",
        "a\udcff.md",
    ],
)
def test_names_that_may_not_be_written(memory_base, name):
    transaction = memory_base.transaction()

    with pytest.raises(PathRefused):
        transaction.write(f"{memory_base.user}/{name}", note())

    assert transaction.changes == ()


def test_pinned_documents_and_the_index_can_be_read(memory_base):
    memory_base.put(memory_base.user / "pinned/p.md", note("Pinned"))
    memory_base.put(memory_base.user / "MEMORY.md", b"index")
    transaction = memory_base.transaction()

    assert transaction.read(str(memory_base.user / "pinned/p.md")) == note("Pinned")
    assert transaction.read(str(memory_base.user / "MEMORY.md")) == b"index"
    with pytest.raises(PathRefused):
        transaction.remove(str(memory_base.user / "pinned/p.md"))


@pytest.mark.parametrize(
    ("existing", "twin"),
    [("user/tea.md", "user/Tea.md"), ("user/tea.md", "User/x.md"), ("caf\u00e9.md", "cafe\u0301.md")],
)
@pytest.mark.parametrize("staged", [True, False])
def test_a_twin_by_case_or_unicode_form_is_refused(memory_base, existing, twin, staged):
    transaction = memory_base.transaction()
    if staged:
        transaction.write(f"{memory_base.user}/{existing}", note())
    else:
        memory_base.put(memory_base.user / existing, note())

    with pytest.raises(PathRefused, match="too like"):
        transaction.write(f"{memory_base.user}/{twin}", note())
    transaction.write(f"{memory_base.project}/{twin}", note())
    transaction.write(f"{memory_base.user}/{existing}", note("Again"))


def test_a_staged_path_is_a_file_or_a_folder(memory_base):
    transaction = memory_base.transaction()
    transaction.write(str(memory_base.user / "a.md"), note())
    transaction.write(str(memory_base.user / "b.md/x.md"), note())

    for path in ("a.md/x.md", "b.md"):
        with pytest.raises(PathRefused, match="both"):
            transaction.write(f"{memory_base.user}/{path}", note())


def test_a_scope_that_is_not_writable_is_refused_and_readable(memory_base, tea):
    transaction = Transaction(fenced_task(), memory_base.roots, writable=frozenset({"project"}))

    with pytest.raises(PathRefused, match="user"):
        transaction.write(str(tea), note())
    assert transaction.read(str(tea)) == note("Tea")


def test_sizes_and_numbers_are_limited(memory_base, tea):
    transaction = memory_base.transaction()

    with pytest.raises(TooLarge):
        transaction.write(str(tea), b"x" * (256 * 1024 + 1))
    with pytest.raises(TooLarge):
        transaction.read(str(tea), max_bytes=10)
    for number in range(50):
        transaction.write(str(memory_base.user / f"{number}.md"), note())
    transaction.write(str(memory_base.user / "0.md"), note("Again"))
    with pytest.raises(TooLarge):
        transaction.write(str(tea), note())
    with pytest.raises(TooLarge):
        transaction.read(str(memory_base.user / "0.md"), max_bytes=10)


def test_it_validates_what_it_would_commit(memory_base, tea):
    transaction = memory_base.transaction()
    transaction.write(str(tea), b"no header")
    transaction.write(str(memory_base.user / "good.md"), note())

    (problem,) = transaction.validate()

    assert (problem.path, "frontmatter" in problem.reason) == (str(tea), True)


def test_a_project_root_inside_the_user_root_is_the_projects(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    transaction = Transaction(fenced_task(), Roots(tmp_path, inner), writable=frozenset())

    assert transaction.scope_of(str(inner / "x.md")) == "project"


@pytest.mark.parametrize(
    "name", ["MEMORY.md", "memory.md", "sub/MEMORY.md", "pinned/p.md", "Pinned/p.md", "a.txt"]
)
def test_what_may_not_be_written_may_not_be_removed(memory_base, name):
    path = memory_base.put(memory_base.user / name, note())
    transaction = memory_base.transaction()

    with pytest.raises(PathRefused):
        transaction.remove(str(path))

    assert transaction.changes == ()
    assert path.read_bytes() == note()


def test_an_adopted_change_counts_as_made_on_what_it_says(memory_base, tea):
    transaction = Transaction(fenced_task(), memory_base.roots, writable=frozenset())
    change = Change(str(tea), "user", note("Earlier"), None)

    transaction.adopt(change)

    assert transaction.changes == (change,)
    assert transaction.look_again(str(tea)) == note("Tea")
    with pytest.raises(PathEscape):
        transaction.adopt(Change("/etc/x.md", "user", None, note()))


def test_it_tells_which_documents_it_has_looked_at(memory_base, tea):
    transaction = memory_base.transaction()
    memory_base.put(memory_base.user / "MEMORY.md", b"index")
    transaction.read(str(memory_base.user / "MEMORY.md"))
    transaction.read(str(tea))
    transaction.write(str(memory_base.project / "new.md"), note())

    assert set(transaction.seen_documents()) == {
        ("user", "user/tea.md", note("Tea")),
        ("project", "new.md", None),
    }
