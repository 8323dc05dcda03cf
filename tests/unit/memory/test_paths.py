import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import StoreUnusable
from memory.paths import find_roots, locate_roots, slug


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=100))
def test_a_slug_has_one_character_for_each_utf16_unit(path):
    made = slug(path)

    assert len(made) == len(path.encode("utf-16-le")) // 2
    assert re.fullmatch(r"[A-Za-z0-9-]*", made)


@pytest.mark.parametrize(
    ("path", "made"), [("/a/b-c", "-a-b-c"), ("/ä/日", "----"), ("/😀", "---"), ("/\udcff", "--")]
)
def test_slugs_are_those_of_the_reference(path, made):
    assert slug(path) == made


def test_a_slug_too_long_for_a_file_system_is_cut_and_stays_unique():
    one, two = slug("/" + "x" * 300), slug("/" + "x" * 300 + "y")

    assert one != two
    assert len(one) < 255


def test_roots_are_made_for_their_owner_only(tmp_path):
    base, work = tmp_path / "base", tmp_path / "work"
    base.mkdir()
    work.mkdir()

    roots = find_roots(base, str(work))

    assert roots.of("user") == base / "memories"
    assert roots.of("project") == base / "projects" / slug(str(work)) / "memory"
    assert {path.stat().st_mode & 0o777 for path in (roots.user, roots.project, base / "projects")} == {0o700}
    assert find_roots(base, str(work)) == roots


def test_local_memory_lives_in_the_workspace(tmp_path):
    assert find_roots(tmp_path, str(tmp_path), local=True).project == tmp_path / ".qwen/memory"


def test_workspaces_whose_slugs_collide_do_not_share_memory(tmp_path):
    first, second = tmp_path / "a/b-c", tmp_path / "a/b/c"
    first.mkdir(parents=True)
    second.mkdir(parents=True)

    roots = [find_roots(tmp_path, str(path)).project for path in (first, second, first, second)]

    assert roots[0] == roots[2] != roots[1] == roots[3]
    assert re.fullmatch(re.escape(slug(str(second))) + "-[0-9a-f]{8}", roots[1].parent.name)


def test_a_stolen_folder_of_ones_own_is_an_error(tmp_path):
    first, second = tmp_path / "a/b-c", tmp_path / "a/b/c"
    first.mkdir(parents=True)
    second.mkdir(parents=True)
    find_roots(tmp_path, str(first))
    owner = find_roots(tmp_path, str(second)).project.parent / "memlane-owner.json"
    owner.write_text('{"workspace": "/another"}')

    with pytest.raises(StoreUnusable, match="another workspace"):
        find_roots(tmp_path, str(second))


@pytest.mark.parametrize("content", ["", "[]", "{}", "\xff"])
def test_a_damaged_owner_record_is_an_error(tmp_path, content):
    owner = find_roots(tmp_path, str(tmp_path)).project.parent / "memlane-owner.json"
    owner.write_text(content)

    with pytest.raises(StoreUnusable, match="damaged"):
        find_roots(tmp_path, str(tmp_path))


def test_base_and_workspace_are_never_made(tmp_path):
    for base, work in [(tmp_path / "no", tmp_path), (tmp_path, tmp_path / "no")]:
        with pytest.raises(StoreUnusable):
            find_roots(base, str(work))
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnusable, match="not a folder"):
        find_roots(tmp_path / "file", str(tmp_path))
    assert not (tmp_path / "no").exists()


def test_a_link_that_a_workspace_brings_is_not_followed(tmp_path):
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (work / ".qwen").symlink_to(outside)

    with pytest.raises(StoreUnusable, match="link"):
        find_roots(tmp_path, str(work), local=True)

    assert list(outside.iterdir()) == []


def test_a_linked_base_is_resolved(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)

    assert find_roots(link, str(real)).user == real / "memories"


def test_a_root_whose_path_is_not_utf8_is_refused(tmp_path):
    work = tmp_path / "w\udcff"
    work.mkdir()

    with pytest.raises(StoreUnusable, match="UTF-8"):
        find_roots(tmp_path, str(work), local=True)
    assert find_roots(tmp_path, str(work)).project.is_dir()


def test_a_root_is_located_where_it_would_be_made_and_never_in_anothers(tmp_path):
    taken, free = "/a/b-c", "/a/b/c"
    base = tmp_path / "base"
    base.mkdir()
    assert locate_roots(base, free).project == base / "projects/-a-b-c/memory"
    for workspace in (tmp_path / "b-c", tmp_path / "b" / "c"):
        workspace.mkdir(parents=True)
    first = find_roots(base, str(tmp_path / "b-c"))

    located = locate_roots(base, str(tmp_path / "b" / "c"))

    assert located.project != first.project
    assert not located.project.exists()
    assert located == find_roots(base, str(tmp_path / "b" / "c"))
    assert locate_roots(base, str(tmp_path / "b-c")) == first
    assert locate_roots(base, taken, local=True).project == Path("/a/b-c/.qwen/memory")
