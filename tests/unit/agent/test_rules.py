from collections.abc import Collection

import pytest

from agent.models.rules import scope_of, type_of
from core.acp import Scope
from memory.document import MemoryType

BOTH: tuple[Scope, ...] = ("user", "project")
LONG_TEXT_WITH_A_URL = (
    "The build moved to another runner in March, because the old one was too slow for the tests of the web "
    "client, see https://ci.example.test/notes for how it went and who did it and what it cost us"
)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("I am a data scientist", "user"),
        ("i work at night", "user"),
        ("I'm from Bern", "user"),
        ("The user prefers short answers", "user"),
        ("Bob likes tea", "user"),
        ("Always run the tests before a commit", "feedback"),
        ("Don't mock the database", "feedback"),
        ("Tabs were a mistake. Never use them", "feedback"),
        ("Release branch is cut on Fridays", "project"),
        ("We decided to drop Python 3.9", "project"),
        ("Our team likes short meetings", "project"),
        ("Bugs are tracked in the board https://example.test/board", "reference"),
        ("The latency dashboard belongs to the platform team", "reference"),
        ("Deploys are announced in #deploys", "reference"),
        ("文档在内部维基里", "reference"),
        ("你好", "project"),
    ],
)
def test_the_type_follows_the_wording(content: str, expected: MemoryType) -> None:
    assert type_of(content, BOTH) == expected


@pytest.mark.parametrize(
    "content",
    [
        "Ich wohne in Köln",
        "Je préfère le café",
        "J'aime le thé",
        "Prefiero respuestas cortas",
        "Me gusta el té",
        "Prefiro chá",
        "Eu gosto de chá",
        "Mi piace il tè",
        "Io lavoro di notte",
        "Я люблю чай",
        "أنا أحب الشاي",
        "我喜欢咖啡",
        "コーヒーが好きです",
        "私は東京に住んでいます",
        "나는 커피를 좋아해",
    ],
)
def test_what_people_say_of_themselves_in_their_own_language_is_not_a_project_fact(content: str) -> None:
    assert (type_of(content, BOTH), scope_of(content, "user", BOTH)) == ("user", "user")


@pytest.mark.parametrize(
    "content",
    [
        "Use npm.",
        "use pnpm not npm",
        "Remember: use pnpm not npm",
        "Please use tabs",
        "In Python, use f-strings",
        "e.g. use f-strings, i.e. not the percent sign",
        "Never paste links to dashboards",
        "Always look at the dashboard https://example.test first",
        "Verwende Tabs",
        "Utilise toujours pnpm",
        "Evita los emojis",
        "不要使用表情符号",
        "日本語で答えてください",
        "항상 한국어로 답하세요",
        "Всегда отвечай коротко",
        "استخدم الجداول",
    ],
)
def test_an_imperative_is_feedback_whatever_else_it_mentions(content: str) -> None:
    assert type_of(content, BOTH) == "feedback"


@pytest.mark.parametrize(
    "content",
    [
        "Use of tabs is allowed",
        "Mia owns the database",
        "EU regulations apply",
        "Standup is Mon and Wed",
        "Name: heron",
        "The loop for i in range(3) is slow",
        "This looks like a bug",
        "Postgres instead of MySQL was decided",
    ],
)
def test_a_word_that_only_looks_like_a_sign_is_none(content: str) -> None:
    assert type_of(content, BOTH) == "project"


def test_one_url_in_a_long_text_does_not_make_it_a_reference() -> None:
    assert type_of(LONG_TEXT_WITH_A_URL, BOTH) == "project"


def test_a_dashboard_beside_the_point_does_not_make_a_reference() -> None:
    content = "The team uses Grafana dashboards for every service since March"

    assert type_of(content, BOTH) == "project"


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
