import pytest

from core.text import encodable, js_trim, utf8_size, well_formed


@pytest.mark.parametrize(
    "blank", ["", " ", "\t\n\v\f\r", "\xa0", "\u3000", "\ufeff", "\u2028\u2029", "\u1680\u200a\u202f\u205f"]
)
def test_what_javascript_trims_is_blank(blank: str):
    assert js_trim(blank) == ""


@pytest.mark.parametrize("kept", ["\u200b", "\x1c", "\x85", "\u180e"])
def test_what_only_python_trims_is_kept(kept: str):
    assert js_trim(f" {kept} ") == kept


def test_trim_leaves_inner_blanks():
    assert js_trim("  a \n b ") == "a \n b"


def test_what_cannot_be_stored_is_replaced():
    assert well_formed("a\0b \ud800 c \udfff") == "a b \ufffd c \ufffd"


def test_sizes_are_utf8_bytes():
    assert [utf8_size(text) for text in ("x", "é", "€", "😀", "\ud800")] == [1, 2, 3, 4, 3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain \U0001d11e", "plain \U0001d11e"),
        ("a\ud834\udd1eb", "a\U0001d11eb"),
        ("\udd1e\ud834", "\ufffd\ufffd"),
        ("\ud834\ud834\udd1e", "\ufffd\U0001d11e"),
        ("x\ud834", "x\ufffd"),
    ],
)
def test_halves_of_a_character_are_joined_and_lone_ones_replaced(text, expected):
    assert encodable(text) == expected
