# ruff: noqa: RUF001 - letters of other scripts are meant as they stand
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.titles import UNNAMED, description_of, file_stem_of, title_of
from agent.models.vocabulary import STOP_WORDS
from memory.names import require_writable


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Prefers tea. Dislikes coffee.", "Prefers tea"),
        ("Use tabs! Always.", "Use tabs!"),
        ("# Heading\n\ntext", "Heading"),
        ("- a\n- b", "a"),
        ("回答要短。不要表情", "回答要短"),
        ("Version 1.2 is out", "Version 1.2 is out"),
        ("a " * 100, "a " * 39 + "a…"),
        ("x" * 100, "x" * 79 + "…"),
        ("?! Tabs", "?! Tabs"),
    ],
)
def test_the_title_is_the_first_sentence(content: str, expected: str) -> None:
    assert title_of(content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1. one\n2. two", "one"),
        ("1) one", "one"),
        ("- [ ] buy **milk** and `eggs`", "buy milk and eggs"),
        ("> [the docs](https://x.test) are good", "the docs are good"),
        ("```python\nprint(1)\n```\nPrints one.", "Prints one"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("---\nTea", "Tea"),
        ("| a | b |", "a | b |"),
    ],
)
def test_markdown_marks_are_no_part_of_a_title(content: str, expected: str) -> None:
    assert title_of(content) == expected


@pytest.mark.parametrize(
    "content",
    [
        "e.g. use f-strings, i.e. not the percent sign",
        "Ask Dr. Smith about it",
        "z.B. Nr. 5 ist offen",
        "3. Mai ist frei",
        "Python 3. Then 4",
        "J. Smith reviews",
    ],
)
def test_a_title_is_not_cut_at_an_abbreviation_or_a_number(content: str) -> None:
    assert title_of(content) == content


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("please remember that I work on compilers", "I work on compilers"),
        ("Could you please remember that my name is Bob?", "my name is Bob?"),
        ("Remember: use pnpm", "use pnpm"),
        ("Remember I like tea", "I like tea"),
        ("Kindly note the following:\n- use tabs", "use tabs"),
        ("Bitte merke dir, dass ich in Köln wohne", "ich in Köln wohne"),
        ("N'oublie pas que j'aime le thé", "j'aime le thé"),
        ("Por favor, recuerda que prefiero té", "prefiero té"),
        ("Lembre-se de que gosto de chá", "gosto de chá"),
        ("Ricorda che mi piace il tè", "mi piace il tè"),
        ("Запомни, пожалуйста, что я люблю чай", "я люблю чай"),
        ("تذكر أنني أحب الشاي", "أنني أحب الشاي"),
        ("请记住：我喜欢咖啡", "我喜欢咖啡"),
        ("覚えておいて：コーヒーが好き", "コーヒーが好き"),
        ("기억해줘: 나는 커피를 좋아해", "나는 커피를 좋아해"),
        ("Save the file before running", "Save the file before running"),
        ("Remember to run the tests", "Remember to run the tests"),
        ("please remember:", "remember"),
    ],
)
def test_a_request_around_the_fact_is_no_part_of_its_title(content: str, expected: str) -> None:
    assert title_of(content) == expected


@pytest.mark.parametrize("content", [".", "...", "?!", "。", "---", "\u200d", "***", "[]()"])
def test_a_text_without_a_word_gets_a_title_all_the_same(content: str) -> None:
    assert title_of(content) == UNNAMED
    assert file_stem_of(content).startswith("memory-")


def test_the_description_is_one_line_of_bounded_length() -> None:
    description = description_of("word \n" * 100)

    assert "\n" not in description
    assert len(description) <= 120


def test_a_blank_description_is_filled() -> None:
    assert description_of("\u200d \u200b") == UNNAMED


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Prefers short answers", "prefers-short-answers"),
        ("Don't use tabs!", "dont-use-tabs"),
        ("Grüße an José", "grüße-an-josé"),
        ("Straße", "straße"),
        ("Jose\u0301", "josé"),
        ("emoji 🎉 你好世界 mixed Straße", "emoji-你好世界-mixed-straße"),
        ("Привет, мир", "привет-мир"),
        ("مرحبا بالعالم", "مرحبا-بالعالم"),
        ("नमस्ते दुनिया", "नमस्ते-दुनिया"),
        ("word " * 30, "word-word-word-word-word-word-word-word-word-word-word-word"),
        ("x" * 70, "x" * 60),
        ("好" * 60, "好" * 40),
        ("../../etc/passwd", "etc-passwd"),
        ("Coffee ☕\ufe0f time", "coffee-time"),
    ],
)
def test_the_file_name_keeps_letters_and_digits_of_every_script(content: str, expected: str) -> None:
    assert file_stem_of(content) == expected


@pytest.mark.parametrize("content", ["What the review is for", "Ask who and when and if", "To be with"])
def test_a_file_name_does_not_end_in_a_stop_word(content: str) -> None:
    assert file_stem_of(content).split("-")[-1] not in STOP_WORDS - {"to"}


@pytest.mark.parametrize("content", ["Memory", "CLAUDE", "Agents", "con", "COM1", "🎉🎉"])
def test_a_name_that_means_something_else_gives_a_hash(content: str) -> None:
    stem = file_stem_of(content)

    assert stem.startswith("memory-")
    assert len(stem) == len("memory-") + 8


@given(st.text())
def test_any_file_name_may_be_written(content: str) -> None:
    stem = file_stem_of(content)

    require_writable(("user", f"{stem}.md"))
    assert len(stem) <= 60
    assert len(stem.encode()) <= 120
    assert unicodedata.is_normalized("NFC", stem)
