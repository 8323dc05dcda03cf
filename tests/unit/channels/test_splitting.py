"""Long answers in messages that fit, and answers in blocks: design page "Channel layer", 2.9 and 5.1."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from channels.blocks import cut_at_paragraph, cut_when_full
from channels.splitting import split_markdown, utf16_units

WORDS = st.lists(
    st.sampled_from(
        ["word", "*bold*", "`code x`", "[a link](http://localhost/x)", "\n", "\n\n", "𝄞", "- item"]
    ),
    max_size=200,
).map(" ".join)

SHREDS = st.lists(
    st.sampled_from(
        [
            *("word ", "𝄞", "x" * 30, "\n", "\n\n", "\r\n", "\t", "     ", "- ", "1. ", "> ", "\\", "!", ")"),
            *(
                "```",
                "````",
                "~~~",
                "```py\n",
                "`",
                "``",
                "**",
                "_",
                "~~",
                "[",
                "](",
                "](http://localhost/(y)",
            ),
            *("|", "|---|\n"),
        ]
    ),
    max_size=120,
).map("".join)
INLINE = st.sampled_from(
    [
        *(
            "some words",
            "**bold words**",
            "*leaning words*",
            "_more of them_",
            "~~no longer true~~",
            "`some code`",
        ),
        *(
            "**bold `code` too**",
            "[a *nice* link](http://localhost/x)",
            '[a b](http://localhost/(y) "a title")',
        ),
    ]
)
PARAGRAPH = st.lists(INLINE, min_size=1, max_size=9).map(" ".join)
CODE = "\n".join(f"{' ' * (4 * (number % 2))}line {number} of code" for number in range(9))
LISTED_CODE = "1. first\n   - inner\n\n     ```sh\n" + "     a line of code\n" * 6 + "     ```\n\n2. second"
BLOCK = st.one_of(
    PARAGRAPH,
    st.lists(PARAGRAPH, min_size=2, max_size=4).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(INLINE, min_size=2, max_size=4).map(
        lambda cells: "| a | b |\n|---|:--|\n" + "\n".join(f"| {cell} | c |" for cell in cells)
    ),
    st.sampled_from(["## A heading", f"```py\n{CODE}\n```", LISTED_CODE]),
)
DOCUMENT = st.lists(BLOCK, min_size=2, max_size=8).map("\n\n".join)
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def shown(*texts):
    """What a reader sees: code, and text without what a table or list is drawn with."""
    code, said = "", ""
    for token in (token for text in texts for token in PARSER.parse(text)):
        if token.type == "fence":
            code += token.content
        for child in token.children or ():
            said += child.content if child.type in ("text", "code_inline") else ""
    return re.sub(r"\s", "", code), re.sub(r"[\s|:-]", "", said)


def is_subsequence(text, of):
    rest = iter(of)
    return all(char in rest for char in text)


def bare(text):
    return re.sub(r"\s+", "", re.sub(r"^ *(```+|~~~+).*$", "", text, flags=re.MULTILINE))


def test_what_fits_stays_as_it_is():
    assert split_markdown("a\n\nb", max_units=64) == ["a\n\nb"]


def test_a_code_block_that_was_never_closed_stays_so_unless_it_is_cut():
    assert split_markdown("```py\ncode\n", max_units=64) == ["```py\ncode"]
    assert split_markdown("```py\n" + "code\n" * 20, max_units=64)[0].endswith("\n```")


def test_the_indent_of_a_first_line_that_is_code_stays():
    assert split_markdown("\n \n    code\n    more", max_units=64) == ["    code\n    more"]


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


def test_a_code_block_that_ends_at_a_cut_leaves_no_empty_one_behind():
    parts = split_markdown(f"```py\n{'x' * 54}\n```\n\n{'after ' * 9}", max_units=64)

    assert parts == [f"```py\n{'x' * 54}\n```", "after " * 8 + "after"]


def test_a_code_block_is_not_cut_before_its_first_line():
    parts = split_markdown(f"{'word ' * 10}\n\n```py\n{'x' * 40}\n```", max_units=64)

    assert parts == ["word " * 9 + "word", f"```py\n{'x' * 40}\n```"]


def test_code_in_a_list_is_opened_again_outside_of_it():
    parts = split_markdown(
        "1. do\n   - this\n\n     ```py\n" + "     code\n" * 12 + "     ```\n", max_units=80
    )

    assert parts[0].endswith("     code\n     ```")
    assert all(part.startswith("```py\ncode\n") and part.endswith("\ncode\n```") for part in parts[1:])


@pytest.mark.parametrize(
    "opening", ["```" + "x" * 5000, "`" * 5000, "```" + "x" * 4090, "~~~ " + "y " * 3000]
)
def test_a_fence_that_leaves_no_room_for_code_loses_nothing(opening):
    text = f"{opening}\n" + "code\n" * 2000
    parts = split_markdown(text, max_units=4096)

    assert all(len(part) <= 4096 for part in parts)
    assert re.sub(r"\s", "", "".join(parts)) == re.sub(r"\s", "", text)


@pytest.mark.parametrize(
    "whole",
    [
        "[some text of a link](http://localhost/path)",
        '[text](http://localhost/a_(b) "with a title")',
        "[![a picture](http://localhost/p.png)](http://localhost)",
        "[text of a link][the reference]",
        "`code of several words`",
        "``code with ` inside of it``",
        "**bold words in a row**",
        "***bold and leaning words***",
        "*leaning words in a row*",
        "_leaning words in a row_",
        "__bold words in a row__",
        "~~words that were wrong~~",
        "**bold words\nover two lines**",
        "**bold `code` and *both* here**",
    ],
)
def test_what_is_marked_up_is_not_cut(whole):
    parts = split_markdown(f"{'word ' * 9}{whole} {'tail ' * 9}", max_units=64)

    assert sum(whole in part for part in parts) == 1


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 words * 4",
        "snake_case and other_names",
        "**kwargs and **more",
        "see [1] and [2]",
        "a ` b \\` c",
    ],
)
def test_signs_that_mark_nothing_up_don_t_keep_words_together(text):
    before = "x" * (62 - len(text) // 2)

    assert split_markdown(f"{before} {text}", max_units=64)[0] != before


def test_what_is_marked_up_and_too_long_is_cut_between_words():
    parts = split_markdown("**" + "word " * 40 + "end**", max_units=64)

    assert {word for part in parts for word in part.split()} == {"**word", "word", "end**"}


def test_a_table_is_cut_between_rows_and_not_behind_its_head():
    row = "| cell one | cell two |"
    parts = split_markdown(f"{'x' * 50}\n| aaaa | b |\n|---|---|\n" + f"{row}\n" * 4, max_units=64)

    assert parts == ["x" * 50, f"| aaaa | b |\n|---|---|\n{row}", f"{row}\n{row}", row]


@pytest.mark.parametrize(
    "pattern",
    [
        "*a ",
        "***a",
        "[",
        "[a ",
        "[a](",
        "`",
        "~~a ",
        "_a _",
        "| ",
        "|-",
        "- ",
        "\\",
        "(",
        "![",
        " \n",
        "~~~\n",
    ],
)
def test_signs_that_are_never_closed_are_cut_after_few_looks(pattern):
    text = pattern * (30_000 // len(pattern))
    calls = 0

    def counting(part):
        nonlocal calls
        calls += 1
        return len(part)

    parts = split_markdown(text, max_units=4096, count_units=counting)

    assert all(len(part) <= 4096 for part in parts)
    assert calls < 60 * (len(parts) + 8)


@given(SHREDS, st.integers(64, 200))
@settings(max_examples=150)
def test_whatever_the_text_every_part_fits_and_nothing_is_lost(text, limit):
    parts = split_markdown(text, max_units=limit, count_units=utf16_units)
    fences = re.compile(r"[\s`~]")

    assert all(part.strip() and utf16_units(part) <= limit for part in parts)
    assert is_subsequence(fences.sub("", text), fences.sub("", "".join(parts)))
    for part in parts:
        assert split_markdown(part, max_units=limit, count_units=utf16_units) == [part]


@given(DOCUMENT, st.integers(120, 400))
@settings(max_examples=40)
def test_a_reader_sees_of_the_parts_what_the_whole_shows(text, limit):
    assert shown(*split_markdown(text, max_units=limit)) == shown(text)


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
    assert cut_at_paragraph("aaa\n\nbb", 4) == 0
    assert cut_at_paragraph("aaa\n\nbb", 3) == 5
    assert cut_at_paragraph("\n\naaaa", 1) == 0
    assert cut_at_paragraph("aaaaaaaa", 4) == 0
