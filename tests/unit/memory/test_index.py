import re
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.index import MAX_INDEX_CHARS, IndexEntry, build_index, parse_index, render_index
from tests.support.memory import note

LINE = re.compile(r"- \[((?:(?!\]\().)*)\]\(([^()\s]*)\)(?: — (.*))?")


def entry(title="Tea", path="user/tea.md", description="likes tea", mtime_ns=0):
    return IndexEntry(type="user", title=title, description=description, path=path, mtime_ns=mtime_ns)


def parts(line):
    match = LINE.fullmatch(line)
    assert match is not None, line
    return match


def units(text):
    return len(text.encode("utf-16-le")) // 2


@given(st.text(), st.text(), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
@settings(deadline=None, max_examples=300)
def test_any_title_description_and_path_make_one_line_that_parses_back(title, description, path):
    text = render_index([entry(title, path, description)])

    match = LINE.fullmatch(text)
    assert match is not None
    assert len(text.splitlines()) == 1
    assert unquote(match[2]) == path
    assert units(text) <= 150 or match[3] is None


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=20)


@given(st.dictionaries(NAMES.map(lambda name: f"{name}.md"), st.text(max_size=40), max_size=6))
@settings(deadline=None, max_examples=60)
def test_the_index_of_any_folder_leads_back_to_the_same_documents(titles):
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for path, title in titles.items():
            (root / path).write_bytes(note(title))

        links = parse_index(build_index(root))

    assert sorted(link.path for link in links) == sorted(set(titles) - {"MEMORY.md"})


def test_lines_of_an_index_that_are_no_links_are_left_out():
    text = "# Memory\n\n* [A](a/caf%C3%A9.md)\n- [broken](\n- text [x](y.md)\n> WARNING: too large"

    assert [(link.title, link.path) for link in parse_index(text)] == [("A", "a/café.md")]


def test_the_line_names_title_path_and_description():
    assert render_index([entry()]) == "- [Tea](user/tea.md) — likes tea"


def test_nothing_makes_an_empty_index():
    assert render_index([]) == ""


def test_newest_come_first_then_name_then_path():
    entries = [
        entry(path=path, mtime_ns=time)
        for path, time in [("b/b.md", 1), ("z/a.md", 1), ("a/a.md", 1), ("c.md", 2)]
    ]

    paths = [parts(line)[2] for line in render_index(entries).split("\n")]

    assert paths == ["c.md", "a/a.md", "z/a.md", "b/b.md"]


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("two\nlines\tand\x07bell", "two lines and bell"),
        ("a](http://evil) `run`", "a] (http://evil) 'run'"),
        ("a]\u200b(x)", "a] (x)"),
        ("\u202eabc\u2066", "abc"),
        (" \ud800 ", "user"),
        ("---", "---"),
        ("t" * 200, "t" * 119 + "…"),
        ("word " * 40, ("word " * 23).rstrip() + "…"),
        ("修" * 2 + " " + "复" * 200, "修修 " + "复" * 116 + "…"),
        ("x" + "😀" * 100, "x" + "😀" * 59 + "…"),
    ],
)
def test_a_title_is_made_harmless_and_short(title, shown):
    assert parts(render_index([entry(title, "a.md", "")]))[1] == shown


def test_a_path_is_encoded_and_never_shortened():
    path = "a b/(c)[d]`é\n~" + "x" * 300 + ".md"

    line = render_index([entry(path=path)])

    assert line == "- [Tea](a%20b/%28c%29%5Bd%5D%60%C3%A9%0A~" + "x" * 300 + ".md)"


def test_a_path_that_is_no_utf8_keeps_its_bytes():
    assert render_index([entry(path="a\udcff.md")]) == "- [Tea](a%FF.md) — likes tea"


def test_a_description_is_cut_to_the_line_budget_and_dropped_when_little_is_left():
    cut = render_index([entry("T" * 80, "p" * 30, "d" * 119)])
    whole = render_index([entry("T" * 100, "p" * 21, "d" * 20)])
    dropped = render_index([entry("T" * 100, "p" * 21, "d" * 21)])

    assert units(cut) == 150
    assert cut.endswith("d…")
    assert whole.endswith("— " + "d" * 20)
    assert "—" not in dropped


def test_an_empty_title_or_description_gives_the_type():
    assert render_index([entry("", "a.md", "\u200b")]) == "- [user](a.md) — user"


def test_more_than_200_documents_end_with_a_quoted_warning():
    text = render_index([entry(path=f"{number:03}.md", mtime_ns=-number) for number in range(201)])

    lines = text.split("\n")
    assert len(lines) == 202
    assert lines[199].startswith("- [Tea](199.md)")
    assert lines[200] == ""
    assert lines[201].startswith("> WARNING: ")


def test_past_the_file_budget_ordinary_lines_win_over_long_ones():
    long = [entry(path="l" * 2_000 + str(number), mtime_ns=9) for number in range(20)]
    short = [entry("s" * 100, path=f"{number}.md") for number in range(100)]

    text = render_index([*long, *short])

    kept = text.split("\n\n")[0]
    assert units(kept) <= MAX_INDEX_CHARS
    assert sum(line.startswith("- [s") for line in kept.split("\n")) == 100
    assert 0 < sum("lll" in line for line in kept.split("\n")) < 20


def test_an_index_of_one_line_over_the_budget_is_the_warning_alone():
    assert render_index([entry(path="p" * 30_000)]).startswith("\n\n> WARNING: ")


def test_the_index_of_a_folder_names_every_memory_in_it(memory_base):
    memory_base.put(memory_base.user / "user/tea.md", note("Tea"))
    memory_base.put(memory_base.user / "pinned/deep/er/p.md", note("Pinned", kind="project"))
    memory_base.put(memory_base.user / "broken.md", b"no header")
    memory_base.put(memory_base.user / "MEMORY.md", note("Not me"))
    memory_base.put(memory_base.user / "note.txt", note("Nor me"))
    memory_base.put(memory_base.user / "big.md", note("Big", body="é" * 20_000))
    (memory_base.user / "link.md").symlink_to(memory_base.user / "user/tea.md")
    (memory_base.user / "loop").symlink_to(memory_base.user)
    (memory_base.user / "hard.md").hardlink_to(
        memory_base.put(memory_base.path / "secret.md", note("Secret"))
    )

    lines = build_index(memory_base.user).split("\n")

    assert sorted(parts(line)[1] for line in lines) == ["Big", "Pinned", "Tea"]


def test_a_missing_folder_has_an_empty_index(tmp_path):
    assert build_index(tmp_path / "none") == ""
