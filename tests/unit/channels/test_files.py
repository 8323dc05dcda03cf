"""Names that files are saved under."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.files import MAX_NAME_BYTES, base_name


@pytest.mark.parametrize(
    ("sent", "saved"),
    [
        ("notes.txt", "notes.txt"),
        ("a/b/notes.txt", "notes.txt"),
        ("..", "file"),
        (".", "file"),
        ("a/..", "file"),
        ("", "file"),
        (None, "file"),
        (".hidden", "hidden"),
        ("a\nb\u202etxt.exe", "a b txt.exe"),
        ("é" * 90 + ".pdf", "é" * 62 + ".pdf"),
    ],
)
def test_a_name_is_the_last_part_without_what_is_unsafe(sent, saved):
    assert base_name(sent, 0) == saved


def test_equal_names_in_one_message_stay_apart():
    assert base_name("a.txt", 1) == "1-a.txt"


@given(st.text(max_size=160), st.integers(0, 9))
def test_no_name_leads_out_of_its_folder(sent, number):
    name = base_name(sent, number)

    assert name not in ("", ".", "..")
    assert not set(name) & {"/", "\0", "\n"}
    assert len(name.encode()) <= MAX_NAME_BYTES + 2
