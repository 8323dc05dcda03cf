import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.document import parse_document, set_document_fields
from memory.merge import merge
from tests.support.memory import note

BASE = note("Tea", body="\n- one\n- two\n\nText.\n- three\n- four\n")
LINES = st.lists(st.sampled_from(["- a", "- b", "text", "", "```", "- c\r"]), max_size=8)
ENDS = st.sampled_from([b"", b"\n", b"\r\n"])


@st.composite
def contents(draw):
    return "\n".join(draw(LINES)).encode() + draw(ENDS)


def edited(old, new, *, of=BASE):
    assert of.count(old) == 1
    return of.replace(old, new)


def stamped(content, when, who):
    return set_document_fields(content, {"modified": f"2026-01-01T00:00:0{when}.000Z", "source": who})


def test_changes_in_different_places_are_both_kept():
    ours, theirs = edited(b"- one\n", b"- one\n- ours\n"), edited(b"- four\n", b"- theirs\n")

    assert merge(BASE, ours, theirs) == edited(b"- four\n", b"- theirs\n", of=ours)


def test_entries_added_at_the_same_place_are_both_kept():
    merged = merge(BASE, BASE + b"- ours\n", BASE + b"- theirs\n  more of it\n")

    assert merged == BASE + b"- theirs\n  more of it\n- ours\n"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(b"Ours.\n", b"- theirs\n"), (b"- ours\n", b"- theirs"), (b"- ours\n", b"- theirs\n```\nx\n")],
    ids=["plain text", "no line end", "an open fence"],
)
def test_what_may_run_into_its_neighbour_is_not_added_at_the_same_place(ours, theirs):
    assert merge(BASE, BASE + ours, BASE + theirs) is None


def test_one_line_changed_in_two_ways_is_not_merged():
    assert merge(BASE, edited(b"- two", b"- ours"), edited(b"- two", b"- theirs")) is None


def test_a_line_that_one_side_changed_and_the_other_removed_is_not_merged():
    assert merge(BASE, edited(b"- two\n", b""), edited(b"- two", b"- theirs")) is None


def test_the_same_change_on_both_sides_is_made_once():
    both = edited(b"- two", b"- 2")

    ours = edited(b"- four", b"- 4", of=both)

    assert merge(BASE, ours, both) == ours


@pytest.mark.parametrize(("when", "expected"), [((1, 2), "theirs"), ((2, 1), "ours")])
def test_stamps_never_clash_and_the_later_ones_stay(when, expected):
    ours = stamped(edited(b"- one", b"- 1"), when[0], "ours")
    theirs = stamped(edited(b"- four", b"- 4"), when[1], "theirs")

    merged = merge(stamped(BASE, 0, "base"), ours, theirs)

    assert merged is not None
    document = parse_document(merged)
    assert document is not None
    assert document.extra == {"modified": f"2026-01-01T00:00:0{max(when)}.000Z", "source": expected}
    assert document.body == "\n- 1\n- two\n\nText.\n- three\n- 4\n"


def test_line_ends_and_a_missing_final_newline_survive():
    base = b"- one\r\n\r\n- two\r\nText\r\n- three"
    ours, theirs = edited(b"one", b"1", of=base), edited(b"three", b"3", of=base)

    assert merge(base, ours, theirs) == b"- 1\r\n\r\n- two\r\nText\r\n- 3"


def test_lines_that_repeat_without_end_are_not_merged():
    base = b"\n" * 400

    assert merge(base, b"x\n" + base, base + b"y\n") is None


@given(contents(), contents())
def test_a_side_that_changed_nothing_gives_the_other_as_it_is(base, changed):
    assert (
        merge(base, base, changed) == merge(base, changed, base) == merge(base, changed, changed) == changed
    )


@given(contents(), contents(), contents())
@example(b"- a\n", b"- a\n- b\n", b"- a\n- c\n")
def test_a_merge_invents_and_loses_no_line(base, ours, theirs):
    merged = merge(base, ours, theirs)
    if merged is None:
        return
    old, mine, other, both = (set(x.splitlines(keepends=True)) for x in (base, ours, theirs, merged))

    assert both <= mine | other
    assert mine - old | other - old <= both


def test_long_documents_that_changed_in_few_places_are_merged():
    base = b"".join(b"- line %d\n" % number for number in range(5_000))
    ours = base.replace(b"- line 2400\n", b"- ours\n")
    theirs = base.replace(b"- line 2500\n", b"- theirs\n")

    assert merge(base, ours, theirs) == ours.replace(b"- line 2500\n", b"- theirs\n")


def test_documents_that_changed_all_over_are_not_compared_for_minutes():
    base, ours, theirs = (
        b"".join(b"- %s %d\n" % (side if number % 2 else b"line", number) for number in range(5_000))
        for side in (b"line", b"ours", b"theirs")
    )

    assert merge(base, ours, theirs) is None
