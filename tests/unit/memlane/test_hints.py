import pytest

from memlane.cli.hints import hint_for

DASHES = 'memlane remember -- "TEXT"'
QUOTES = 'memlane remember "TEXT"'


@pytest.mark.parametrize("words", [["--dark mode"], ["-x", "I like it"], ["text", "--wiat"]])
def test_text_that_looks_like_an_option_goes_behind_two_dashes(words):
    assert DASHES in hint_for(["remember", *words])


@pytest.mark.parametrize("words", [["I", "like"], ["--wait", "I", "like"], ["--", "-a", "b"]])
def test_several_words_go_in_quotes(words):
    assert QUOTES in hint_for(["remember", *words])


@pytest.mark.parametrize("words", [[], ["-"], ["x", "--scope", "moon"], ["x", "--scope=moon", "--wait"]])
def test_there_is_nothing_to_add_to_other_mistakes(words):
    assert hint_for(["remember", *words]) == ""


def test_other_commands_take_no_text():
    assert hint_for(["up", "a", "b"]) == ""
