from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.entries import parse_entries, remove_entries
from memory.errors import EntryUnknown

HEAD = "---\ntype: user\nname: Tea\ndescription: likes tea\n---\n"
PIECES = [
    *("- ", "* ", "+ ", "  - ", "    * ", "1. ", "-", "\t", "   ", "> ", "# ", "---\n", "a", "b c", "\u2028"),
    *(
        "\n",
        "\n\n",
        "\r\n",
        "```\n",
        "  ```\n",
        "~~~\n",
        "<!--",
        "-->\n",
        "Why: ",
        "**How to apply:** ",
        "e\u0301",
    ),
]
BODIES = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=80
)
DOCUMENTS = st.builds(
    lambda opening, head, body: (opening + head + body).encode(),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from([HEAD, HEAD.replace("\n", "\r\n")]),
    BODIES,
)


def lines_of(body):
    """Entries of a document with this body, each as the lines it holds."""
    text = HEAD + body
    return [text[entry.start : entry.stop] for entry in parse_entries(text.encode())]


def without(body, *indexes):
    left = remove_entries((HEAD + body).encode(), indexes)
    return left.decode().removeprefix(HEAD) if left is not None else None


@given(DOCUMENTS)
@settings(deadline=None, max_examples=300)
def test_entries_and_what_lies_between_them_are_the_document(data):
    text = data.decode()
    entries = parse_entries(data)

    borders = [0, *(border for entry in entries for border in (entry.start, entry.stop)), len(text)]
    assert borders == sorted(borders)
    assert "".join(text[start:stop] for start, stop in pairwise(borders)) == text
    assert [entry.index for entry in entries] == list(range(len(entries)))
    assert all(entry.start < entry.stop for entry in entries)


@given(DOCUMENTS, st.data())
@settings(deadline=None, max_examples=300)
def test_to_remove_an_entry_leaves_every_other_byte(data, choices):
    text = data.decode()
    entries = parse_entries(data)
    entry = choices.draw(st.sampled_from(entries))

    left = remove_entries(data, [entry.index])

    if left is None:
        assert len(entries) == 1
    else:
        assert left == (text[: entry.start] + text[entry.stop :]).encode()


@given(DOCUMENTS)
@settings(deadline=None, max_examples=150)
def test_a_reading_of_an_entry_is_one_line(data):
    for entry in parse_entries(data):
        for shown in (entry.text, entry.why, entry.how_to_apply):
            assert len(shown.splitlines()) <= 1


@given(st.binary(max_size=300))
@settings(deadline=None, max_examples=150)
def test_any_bytes_can_be_searched_for_entries(data):
    parse_entries(data)
    parse_entries(HEAD.encode() + data)


@pytest.mark.parametrize(
    ("body", "entries"),
    [
        ("\n- a\n- b\n", ["- a\n", "- b\n"]),
        ("* a\n+ b", ["* a\n", "+ b"]),
        (
            "- a\n  goes on\n  - below\n    - deeper\n- b\n",
            ["- a\n  goes on\n  - below\n    - deeper\n", "- b\n"],
        ),
        ("- a\ngoes on lazily\n- b\n", ["- a\ngoes on lazily\n", "- b\n"]),
        ("- a\n\n  second paragraph\n\n- b\n", ["- a\n\n  second paragraph\n", "- b\n"]),
        ("- a\n\ntext between\n\n- b\n", ["- a\n", "- b\n"]),
        ("# Title\n- a\n## Part\n- b\n", ["- a\n", "- b\n"]),
        ("  - a\n    - below\n  - b\n", ["  - a\n    - below\n", "  - b\n"]),
        ("-\ta\n\t- below\n- b\n", ["-\ta\n\t- below\n", "- b\n"]),
        ("   -  a\n    - still a\n- b\n", ["   -  a\n    - still a\n", "- b\n"]),
        ("1. step\n   - below\n\n- a\n", ["- a\n"]),
        ("> - quoted\n\n- a\n", ["- a\n"]),
        ("- - -\n- a\n* * *\n", ["- a\n"]),
        ("**bold**\n*slanted*\n-dash\n- a\n", ["- a\n"]),
        ("<!--\n- hidden\n-->\n- a\n<!-- note -->\n- b\n", ["- a\n", "- b\n"]),
        ("- a\u2028- same line\n- b\n", ["- a\u2028- same line\n", "- b\n"]),
        ("-\n  text below its mark\n- b\n", ["-\n  text below its mark\n", "- b\n"]),
    ],
)
def test_top_bullets_are_entries(body, entries):
    assert lines_of(body) == entries


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
@pytest.mark.parametrize(
    ("body", "entries"),
    [
        ("F\n- code\nF\n- a\n", ["- a\n"]),
        ("- a\n  F\n  - code\n\n  - code\n  F\n- b\n", ["- a\n  F\n  - code\n\n  - code\n  F\n", "- b\n"]),
        ("- a\nF\n- code\nF\n- b\n", ["- a\nF\n- code\nF\n", "- b\n"]),
        ("- a\n  F\n  - code\nF\n- b\n", ["- a\n  F\n  - code\nF\n", "- b\n"]),
        ("- a\n\nF\n- code\nF\n- b\n", ["- a\n", "- b\n"]),
        ("- F\n  - code\n  F\n- b\n", ["- F\n  - code\n  F\n", "- b\n"]),
    ],
)
def test_a_bullet_in_a_fence_is_no_entry(body, entries, fence):
    assert lines_of(body.replace("F", fence)) == [entry.replace("F", fence) for entry in entries]


def test_an_indented_fence_that_is_never_closed_ends_with_its_entry():
    assert lines_of("- a\n  ```\n  - code\n- b\n") == ["- a\n  ```\n  - code\n", "- b\n"]


def test_a_fence_that_is_never_closed_takes_nothing_with_the_entry_above():
    assert without("- a\n```\n- b\n", 0) == "```\n- b\n"


def test_tildes_do_not_close_a_fence_of_backticks():
    assert lines_of("```\n- code\n~~~\n- code\n```\n- a\n") == ["- a\n"]


@pytest.mark.parametrize(
    "reasons",
    [
        "  Why: it is warm\n  How to apply: offer it\n",
        "  **Why:** it is warm\n  **How to apply:** offer it\n",
        "  **Why**: it is warm\n  *How to apply:* offer it\n",
        "Why: it is warm\nHow to apply: offer it\n",
        "\nWhy: it is\nwarm\n\n**How to apply:** offer it\n",
        "  - Why: it is warm\n  - How to apply: offer it\n",
        "- why: it is warm\n- how to apply: offer it\n",
        "  How to apply: offer it\n  Why\uff1a it is warm\n",
    ],
)
def test_reasons_belong_to_the_entry_above(reasons):
    first, second = parse_entries(f"{HEAD}- likes tea\n{reasons}- b\n".encode())

    assert (first.text, first.why, first.how_to_apply) == ("likes tea", "it is warm", "offer it")
    assert second.text == "b"


def test_bold_type_within_a_reason_stays():
    (entry,) = parse_entries(f"{HEAD}- a\n  **Why**: **two** things\n".encode())

    assert entry.why == "**two** things"


def test_a_reason_below_other_text_belongs_to_that():
    assert lines_of("- a\n\nSome text.\n\nWhy: of the text\n") == ["- a\n"]


def test_the_text_of_an_entry_is_one_line_without_its_mark():
    (entry,) = parse_entries(f"{HEAD}-   likes\u2028 tea\r\n  and  more\r\n    - below\r\n".encode())

    assert entry.text == "likes tea and more - below"


@pytest.mark.parametrize("body", ["", "\nLikes tea.\n", "1. a\n2. b\n", "# Title\n\n    - code\n"])
def test_a_document_without_bullets_is_one_entry(body):
    (entry,) = parse_entries((HEAD + body).encode())

    assert entry.is_whole
    assert (entry.index, entry.stop) == (0, len(HEAD + body))
    assert without(body, 0) is None


def test_a_document_without_bullets_says_why():
    (entry,) = parse_entries(f"{HEAD}\nLikes tea.\n\n**Why:** warm\n\nMore of it.\n".encode())

    assert (entry.text, entry.why) == ("Likes tea. More of it.", "warm")


@pytest.mark.parametrize(
    "data",
    [b"", b"- a\n- b\n", b"---\nname: Tea\n---\n- a\n", HEAD.encode() + b"- a\n- caf\xe9\n"],
    ids=["empty", "no header", "no type", "not UTF-8"],
)
def test_what_is_no_memory_has_no_entries_and_is_never_changed(data):
    assert parse_entries(data) == ()
    assert remove_entries(data, []) == data
    with pytest.raises(EntryUnknown) as caught:
        remove_entries(data, [0])
    assert caught.value.index == 0


@pytest.mark.parametrize("indexes", [[2], [0, 2], [-1]])
def test_an_unknown_entry_is_refused(indexes):
    with pytest.raises(EntryUnknown):
        remove_entries(f"{HEAD}- a\n- b\n".encode(), indexes)


def test_exactly_the_lines_of_an_entry_go():
    header = b"\xef\xbb\xbf---\r\ntype: user # mine\r\nname: Tea\r\nodd: 1\r\ndescription: d\r\n---\r\n"
    before = b"\r\n# Tea \r\n\r\n- caf\x65\xcc\x81 \xe2\x80\xa8 stays\r\n"
    entry = b"- goes\r\n  - below\r\n  ```\r\n  - code\r\n  ```\r\n\r\n  **Why:** so\r\n"
    after = b"\r\n- stays too"

    assert remove_entries(header + before + entry + after, [1]) == header + before + after


def test_several_entries_go_at_once():
    assert without("- a\n- b\n\n- c", 0, 2) == "- b\n\n"


def test_a_document_goes_with_its_last_entry():
    assert without("- a\n- b\n", 0, 1) is None


def test_headings_and_lines_that_lead_to_a_list_go_with_its_last_entry():
    assert without("# Tea\n\n<!-- by hand -->\n**Likes:**\n\n- a\n\n---\n", 0) is None


def test_text_beside_the_last_entry_keeps_the_document():
    assert without("Drinks tea daily.\n\n- a\n", 0) == "Drinks tea daily.\n\n"
