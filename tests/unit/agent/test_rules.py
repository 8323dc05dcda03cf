from collections.abc import Collection

import pytest

from agent.models.rules import description_of, file_stem_of, scope_of, title_of, type_of
from core.acp import Scope
from memory.document import MemoryType

BOTH: tuple[Scope, ...] = ("user", "project")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("I am a data scientist", "user"),
        ("The user prefers short answers", "user"),
        ("Always run the tests before a commit", "feedback"),
        ("Don't mock the database", "feedback"),
        ("Tabs were a mistake. Never use them", "feedback"),
        ("Release branch is cut on Fridays", "project"),
        ("We decided to drop Python 3.9", "project"),
        ("Bugs are tracked in the board https://example.test/board", "reference"),
        ("The latency dashboard belongs to the platform team", "reference"),
        ("你好", "project"),
    ],
)
def test_the_type_follows_the_wording(content: str, expected: MemoryType) -> None:
    assert type_of(content, BOTH) == expected


def test_in_the_user_folder_alone_doubt_means_user() -> None:
    assert type_of("Coffee is at ten", BOTH[:1]) == "user"


@pytest.mark.parametrize(
    ("content", "kind", "folders", "expected"),
    [
        ("I like tea", "user", BOTH, "user"),
        ("I like tea", "user", ("project",), "project"),
        ("Always use tabs", "feedback", BOTH, "user"),
        ("All contributors must sign off", "feedback", BOTH, "project"),
        ("We release on Friday", "project", BOTH, "project"),
        ("My thesis is due in May", "project", BOTH, "user"),
        ("My notes are in our wiki", "reference", BOTH, "project"),
    ],
)
def test_the_scope_follows_type_and_owner(
    content: str, kind: MemoryType, folders: Collection[Scope], expected: Scope
) -> None:
    assert scope_of(content, kind, folders) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Prefers tea. Dislikes coffee.", "Prefers tea"),
        ("# Heading\n\ntext", "Heading"),
        ("- a\n- b", "a"),
        ("回答要短。不要表情", "回答要短"),
        ("Version 1.2 is out", "Version 1.2 is out"),
        ("。", "。"),
        ("a " * 100, "a " * 39 + "a…"),
        ("x" * 100, "x" * 79 + "…"),
    ],
)
def test_the_title_is_the_first_sentence(content: str, expected: str) -> None:
    assert title_of(content) == expected


def test_the_description_is_one_line_of_bounded_length() -> None:
    description = description_of("word \n" * 100)

    assert "\n" not in description
    assert len(description) <= 120


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Prefers short answers", "prefers-short-answers"),
        ("Don't use tabs!", "dont-use-tabs"),
        ("Grüße an José", "grue-an-jose"),
        ("word " * 30, "word-word-word-word-word-word-word-word-word"),
        ("x" * 60, "x" * 48),
        ("../../etc/passwd", "etc-passwd"),
    ],
)
def test_the_file_name_is_plain_ascii(content: str, expected: str) -> None:
    assert file_stem_of(content) == expected


@pytest.mark.parametrize("content", ["你好世界", "Привет, мир", "🎉🎉", "---", "emoji 🎉 你好世界你好世界"])
def test_a_title_in_another_script_gives_a_hash(content: str) -> None:
    stem = file_stem_of(content)

    assert stem.startswith("memory-")
    assert len(stem) == len("memory-") + 8
