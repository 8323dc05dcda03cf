# ruff: noqa: RUF001 - letters of other scripts are meant as they stand
import pytest

from agent.models.similarity import compare, search_words


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The user prefers short answers", "User prefers short answers."),
        ("I prefer dark mode", "prefers dark mode"),
        ("PREFERS  Dark Mode!", "prefers dark mode"),
        ("Use tabs!", "use   TABS"),
        ("use tabs, please", "Use: tabs"),
        ("don\u2019t use tabs", "Don't use tabs"),
        ("Please remember that I like green tea", "- I like green tea"),
        ("tea", "Tea."),
        ("我喜欢咖啡", "我喜欢咖啡"),
    ],
)
def test_what_is_said_already_is_known(new: str, old: str) -> None:
    assert compare(new, old) == "known"


@pytest.mark.parametrize(
    ("broad", "narrow"),
    [
        ("Use tabs.", "Use tabs in Makefiles."),
        ("Use tabs", "Use tabs for indentation of Makefiles"),
        ("Prefers short answers", "Prefers short answers on weekdays"),
        ("Verwende Tabs", "Verwende Tabs in Makefiles"),
        ("Utilise des tabulations", "Utilise des tabulations dans les Makefiles"),
        ("Usa tabuladores siempre", "Usa tabuladores siempre en Makefiles"),
        ("Используй табы", "Используй табы в Makefile"),
    ],
)
def test_a_rule_for_some_cases_and_the_rule_for_all_are_two_facts(broad: str, narrow: str) -> None:
    assert (compare(broad, narrow), compare(narrow, broad)) == ("different", "different")


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Releases are cut on Fridays", "Releases are cut on Fridays by the release captain"),
        ("Prefers short answers", "Prefers short answers, always"),
        ("Use tabs", "Use tabs everywhere, Makefiles too"),
    ],
)
def test_a_text_that_says_more_does_not_make_a_shorter_one_known(new: str, old: str) -> None:
    assert compare(new, old) == "different"


def test_what_says_the_same_and_more_is_newer() -> None:
    assert compare("Prefers short answers with examples", "Prefers short answers") == "newer"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I don't like coffee", "I like coffee"),
        ("I like coffee no more", "I like coffee"),
        ("I like coffee, not", "I like coffee"),
        ("Do not use tabs in Go", "Use tabs in Go"),
        ("Use tabs in Go", "Do not use tabs in Go or Python"),
        ("Do not use npm.", "use pnpm not npm"),
        ("Use npm", "use pnpm not npm"),
        ("我不喜欢咖啡", "我喜欢咖啡"),
        ("我喜欢咖啡，但是不加糖", "我喜欢咖啡"),
        ("Ich mag keinen Kaffee", "Ich mag Kaffee"),
        ("Ich mag Kaffee nicht", "Ich mag Kaffee"),
        ("Je n'aime pas le café", "J'aime le café"),
        ("No me gusta el café", "Me gusta el café"),
        ("Não gosto de café", "Gosto de café"),
        ("Non mi piace il caffè", "Mi piace il caffè"),
        ("Я не люблю кофе", "Я люблю кофе"),
        ("أنا لا أحب القهوة", "أنا أحب القهوة"),
        ("コーヒーが好きではない", "コーヒーが好き"),
        ("나는 커피를 좋아하지 않아", "나는 커피를 좋아해"),
        ("The user was a manager here", "The user is a manager here"),
    ],
)
def test_a_negation_never_replaces_what_it_denies(new: str, old: str) -> None:
    assert (compare(new, old), compare(old, new)) == ("different", "different")


@pytest.mark.parametrize(
    "new",
    [
        "forget that I like short answers",
        "Please delete: I like short answers",
        "I like short answers: forget it",
        "I like short answers only in chats",
        "I like short answers if there is little time",
        "My wife likes short answers",
    ],
)
def test_a_wish_to_forget_a_condition_or_another_person_is_a_fact_of_its_own(new: str) -> None:
    assert compare(new, "I like short answers") == "different"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The server port is 8080", "The server port is 9090"),
        ("fact number 17 about deployment", "fact number 18 about deployment"),
        ("The alpha service stores sessions in Redis", "The beta service stores sessions in Redis"),
        ("Alice reviews what Bob writes", "Bob reviews what Alice writes"),
        ("likes tea", "tea is grown in Assam"),
        ("coffee", "tea"),
        ("", "prefers dark mode"),
        ("...", "."),
        ("We write this in C", "We write this in C++"),
        ("We write this in C", "We write this in C#"),
        ("It is version 1.2 now", "It is version 1.2.3 now"),
        ("A latency <5 ms", "A latency >5 ms"),
        ("I really like 🍕", "I really like 🍣"),
        ("喜欢茶杯", "喜欢茶"),
        (
            "Deploys on Friday",
            "Deploys on Friday need a ticket, a review, two approvals, a plan and a rollback",
        ),
    ],
)
def test_every_doubt_means_different(new: str, old: str) -> None:
    assert (compare(new, old), compare(old, new)) == ("different", "different")


def test_words_of_a_search_are_folded_and_silent_ones_left_out() -> None:
    assert search_words("The user's Boxes DO pass this, Alice's too") == ("boxe", "pass", "alice", "too")


def test_a_search_for_silent_words_alone_keeps_them() -> None:
    assert search_words("Never forget") == ("never", "forget")


def test_scripts_without_spaces_give_pairs() -> None:
    assert search_words("回答短") == ("回答", "答短")
    assert search_words("茶") == ("茶",)
