import os

import pytest

from memory.beneath import open_regular
from memory.index import build_index, build_known_index
from memory.lines import MAX_ROOTS, LineCache
from tests.support.memory import note

FOREVER_MS = 10**15


class Rendered:
    """Lines that say which documents were parsed to make them."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def __call__(self, path, document):
        self.paths.append(path)
        return document.name


def lines_of(cache, root):
    lines = cache.lines(root)
    assert lines is not None
    return lines


def names(cache, root):
    return sorted(line.text for line in lines_of(cache, root))


def fill(memory_base, count=3):
    return [memory_base.put(memory_base.user / f"{n}.md", note(f"N{n}")) for n in range(count)]


@pytest.mark.parametrize("settled_ms", [0, FOREVER_MS])
def test_after_one_change_one_document_is_parsed(memory_base, settled_ms):
    paths, rendered = fill(memory_base), Rendered()
    cache = LineCache(rendered, settled_ms=settled_ms)
    cache.lines(memory_base.user)
    paths[1].write_bytes(note("Changed"))

    assert names(cache, memory_base.user) == ["Changed", "N0", "N2"]
    assert rendered.paths == ["0.md", "1.md", "2.md", "1.md"]


def test_a_settled_document_is_not_even_opened_again(memory_base, monkeypatch):
    fill(memory_base)
    settled, young = LineCache(Rendered(), settled_ms=0), LineCache(Rendered(), settled_ms=FOREVER_MS)
    for cache in (settled, young):
        cache.lines(memory_base.user)
    opened: list[str] = []

    def note_opening(folder, name):
        opened.append(name)
        return open_regular(folder, name)

    monkeypatch.setattr("memory.lines.open_regular", note_opening)

    assert names(settled, memory_base.user) == ["N0", "N1", "N2"]
    assert opened == []
    assert names(young, memory_base.user) == ["N0", "N1", "N2"]
    assert opened == ["0.md", "1.md", "2.md"]


@pytest.mark.parametrize("settled_ms", [0, FOREVER_MS])
def test_an_edit_that_keeps_size_and_time_is_seen(memory_base, settled_ms):
    path, cache = fill(memory_base)[0], LineCache(Rendered(), settled_ms=settled_ms)
    cache.lines(memory_base.user)
    before = path.stat()
    swapped = memory_base.put(memory_base.path / "new.md", note("M0"))
    os.utime(swapped, ns=(before.st_atime_ns, before.st_mtime_ns))
    swapped.rename(path)

    assert path.stat().st_size == before.st_size
    assert names(cache, memory_base.user) == ["M0", "N1", "N2"]


def test_documents_that_went_or_became_something_else_have_no_line(memory_base):
    paths, cache = fill(memory_base, 5), LineCache(Rendered(), settled_ms=0)
    cache.lines(memory_base.user)
    paths[0].unlink()
    paths[1].write_bytes(b"no header")
    paths[2].unlink()
    paths[2].symlink_to(paths[4])
    (memory_base.path / "second.md").hardlink_to(paths[3])

    assert names(cache, memory_base.user) == ["N4"]


def test_a_new_time_moves_a_line_that_is_not_parsed_again(memory_base):
    paths, rendered = fill(memory_base), Rendered()
    cache = LineCache(rendered, settled_ms=0)
    cache.lines(memory_base.user)
    os.utime(paths[0], ns=(5, 5))

    lines = lines_of(cache, memory_base.user)

    assert [line.mtime_ns for line in lines if line.path == "0.md"] == [5]
    assert len(rendered.paths) == 3


def test_more_unknown_documents_than_may_be_parsed_give_no_lines_but_are_known_later(memory_base):
    fill(memory_base, 5)
    cache = LineCache(Rendered())

    found = [cache.lines(memory_base.user, max_parsed=2) for _ in range(3)]

    assert [lines is not None and len(lines) for lines in found] == [False, False, 5]


def test_roots_that_were_not_used_lately_are_forgotten(tmp_path, memory_base):
    rendered = Rendered()
    cache = LineCache(rendered)
    roots = [tmp_path / f"root{number}" for number in range(MAX_ROOTS + 1)]
    for root in roots:
        memory_base.put(root / "a.md", note())
        cache.lines(root)

    assert cache.lines(roots[0], max_parsed=0) is None
    assert cache.lines(roots[-1], max_parsed=0) is not None


def test_a_known_index_is_the_index(memory_base):
    fill(memory_base)

    assert build_known_index(memory_base.user, max_parsed=2) is None
    whole = build_index(memory_base.user)
    assert build_known_index(memory_base.user, max_parsed=0) == whole
    assert whole.count("\n") == 2
