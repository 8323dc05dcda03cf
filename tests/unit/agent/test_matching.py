import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.matching import Shown, find_match, smallest_edit, updated_text
from tests.support.scripted_model import document

LINES = st.lists(st.sampled_from(["", "- a", "- ab", "a", "b\r"]), max_size=12).map("\n".join)


@given(before=LINES, after=LINES)
def test_an_edit_stands_once_and_makes_the_new_text(before: str, after: str) -> None:
    old, new = smallest_edit(before, after)

    start = before.find(old)
    assert before[:start] + new + before[start + len(old) :] == after
    assert before == old or before.find(old, start + 1) < 0


def test_an_edit_takes_no_more_lines_than_it_needs() -> None:
    before = "- tea\n- tea in the morning\n- water\n- coffee"

    assert smallest_edit(before, before.replace("coffee", "milk")) == ("- coffee", "- milk")
    assert smallest_edit(before, "- milk" + before[5:]) == (
        "- tea\n- tea in the morning",
        "- milk\n- tea in the morning",
    )


@pytest.mark.parametrize(
    ("body", "piece"),
    [
        ("Prefers short answers", "Prefers short answers"),
        ("- Likes tea\n- Prefers short answers", "- Prefers short answers"),
        ("- Likes tea\n\n  - Prefers short answers\n", "- Prefers short answers"),
        ("- Prefers short answers\n  **Why:** reads on the phone", "- Prefers short answers"),
        ("# About\nPrefers short answers\n# More", "Prefers short answers"),
        ("Likes tea\n\nPrefers short\nanswers\n\nLives in Bern", "Prefers short\nanswers"),
    ],
)
def test_an_entry_or_paragraph_that_says_the_fact_is_found_where_it_stands(body: str, piece: str) -> None:
    text = document(name="Prefers short answers", body=body)

    match = find_match("prefers short answers", [Shown("/a.md", text)])

    assert match is not None
    assert (match.old, text[match.start :].startswith(piece)) == (piece, True)
    assert match.start > text.index("---\n\n")
    assert match.is_whole is (piece == body)


@pytest.mark.parametrize(
    "body",
    [
        "Prefers short answers\nin the morning",
        "- Prefers short answers\n  in the morning",
        "Never say that he\nprefers short answers",
        "```\nPrefers short answers\n```",
    ],
)
def test_a_line_of_a_longer_paragraph_is_no_fact_of_its_own(body: str) -> None:
    assert find_match("Prefers short answers", [Shown("/a.md", document(body=f"{body}\n\nMore."))]) is None


def test_what_says_it_already_goes_before_what_says_its_beginning() -> None:
    beginning = Shown("/a.md", document(body="Prefers short answers"))
    whole = Shown("/b.md", document(body="Prefers short answers and examples"))

    match = find_match("Prefers short answers and examples", [beginning, whole])

    assert match is not None
    assert (match.document, match.likeness) == (whole, "known")


def test_an_update_puts_one_line_in_place_of_one_piece() -> None:
    text = document(name="About", body="- Prefers short answers\n- Prefers short answers too")
    match = find_match("Prefers short answers\nand examples", [Shown("/a.md", text)])

    assert match is not None
    assert updated_text(match, "Prefers short answers\nand examples") == text.replace(
        "answers\n", "answers and examples\n"
    )
