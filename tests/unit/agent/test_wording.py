import pytest

from agent.models.wording import MAX_LINE_CHARACTERS, clean, fact_of, first_line, marks_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x07b\x1bc\x7fd\x85e", "a b c d e"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("safe \u202egnp.exe\u202c", "safe  gnp.exe "),
        ("a\u2066b\u2069\u200e\u200fc", "a b   c"),
        ("a\u200bb\ufeffc", "a b c"),
        ("a\ud800b", "a b"),
    ],
)
def test_what_nobody_sees_becomes_a_blank(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    "text", ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\U0001f469\u200d\U0001f4bb"]
)
def test_a_joiner_inside_a_word_stays(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize("text", ["\u200da", "a\u200c", "a \u200d b", "a\u200d\u200db"])
def test_a_joiner_that_joins_nothing_goes(text: str) -> None:
    assert "\u200d" not in clean(text)
    assert "\u200c" not in clean(text)


def test_a_request_alone_is_the_fact() -> None:
    assert fact_of("- ") == "-"


@pytest.mark.parametrize(
    ("line", "marks"),
    [("text", ""), ("- [x] text", "- [x] "), ("> - text", "> - "), ("-5 degrees", ""), ("", "")],
)
def test_the_marks_of_a_line_are_what_stands_before_its_text(line: str, marks: str) -> None:
    assert marks_of(line) == marks


@pytest.mark.parametrize("text", ["- " * 30_000, "`" * 60_000, "\n" * 60_000, "*" * 60_000, "1. " * 20_000])
def test_a_long_text_of_marks_takes_no_long_time(text: str) -> None:
    assert len(first_line(text)) <= MAX_LINE_CHARACTERS
