"""Long answers in messages that fit, and answers in blocks: design page "Channel layer", 2.9 and 5.1."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.blocks import cut_at_paragraph, cut_when_full
from channels.splitting import split_markdown, utf16_units

WORDS = st.lists(
    st.sampled_from(
        ["word", "*bold*", "`code x`", "[a link](http://localhost/x)", "\n", "\n\n", "𝄞", "- item"]
    ),
    max_size=200,
).map(" ".join)


def bare(text):
    return re.sub(r"\s+", "", re.sub(r"^ *(```+|~~~+).*$", "", text, flags=re.MULTILINE))


def test_what_fits_stays_as_it_is():
    assert split_markdown("a\n\nb", max_units=64) == ["a\n\nb"]


def test_nothing_makes_no_message():
    assert split_markdown(" \n ", max_units=64) == []


def test_the_best_place_is_between_paragraphs_then_lines_then_words():
    text = "a" * 40 + "\n\n" + "b" * 30 + "\n" + "c" * 30 + " " + "d" * 40

    assert split_markdown(text, max_units=64) == ["a" * 40, "b" * 30, "c" * 30, "d" * 40]


def test_a_word_that_is_too_long_is_cut_anywhere():
    parts = split_markdown("x" * 20_000, max_units=4096)

    assert "".join(parts) == "x" * 20_000
    assert [len(part) for part in parts[:4]] == [4096] * 4


def test_a_code_block_is_closed_and_opened_again():
    code = "\n".join(f"line {number}" for number in range(40))
    parts = split_markdown(f"before\n\n```python\n{code}\n```\n\nafter", max_units=100)

    assert all(part.count("```") % 2 == 0 for part in parts)
    assert parts[1].startswith("```python\nline ")
    assert bare("\n".join(parts)) == bare(f"before{code}after")


def test_a_longer_fence_is_closed_by_one_as_long():
    code = "\n".join(["```", "inner", "```"] * 20)
    parts = split_markdown(f"````md\n{code}\n````", max_units=100)

    assert all(part.startswith("````md\n") and part.endswith("\n````") for part in parts)


def test_the_indent_of_code_survives_a_cut():
    code = "\n".join("    indented" for _ in range(20))
    parts = split_markdown(f"```\n{code}\n```", max_units=100)

    assert all(line.startswith("    ") for part in parts for line in part.split("\n")[1:-1])


def test_a_link_or_code_span_is_not_cut():
    link = "[some text of a link](http://localhost/path)"
    parts = split_markdown("x" * 50 + " " + link + " tail", max_units=64)

    assert link in parts[1]


@given(WORDS, st.integers(64, 300))
@settings(max_examples=60)
def test_every_part_fits_and_nothing_is_lost(text, limit):
    parts = split_markdown(text, max_units=limit, count_units=utf16_units)

    assert all(0 < utf16_units(part) <= limit for part in parts)
    assert bare("".join(parts)) == bare(text)


def test_ten_thousand_characters_of_markdown_arrive_whole():
    text = "\n\n".join(f"## Part {n}\n\n" + "Some **bold** words and `code`. " * 12 for n in range(25))
    assert len(text) > 9_900
    parts = split_markdown(text, max_units=4096, count_units=utf16_units)

    assert len(parts) == 3
    assert bare("".join(parts)) == bare(text)


def test_characters_outside_of_the_basic_plane_count_twice():
    assert utf16_units("a𝄞") == 3


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("aa\n\nbb\n\ncccccc", 8),
        ("aaaa\nbbbb ccccc", 5),
        ("aaaa bbbb ccccc", 10),
        ("aaaaaaaaaaaaaaa", 10),
        ("\n\naaaaaaaaaaaaa", 2),
    ],
)
def test_a_full_block_is_cut_at_its_last_good_place(text, end):
    assert cut_when_full(text, 10) == end


def test_a_block_is_sent_through_its_last_blank_line_once_it_is_long_enough():
    assert cut_at_paragraph("aaaa\n\nbb", 4) == 6
    assert cut_at_paragraph("aa\n\nbb", 5) == 0
    assert cut_at_paragraph("aaaaaaaa", 4) == 0
