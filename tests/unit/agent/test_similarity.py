import pytest

from agent.models.similarity import compare, significant_words


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The user prefers short answers", "User prefers short answers."),
        ("I prefer dark mode", "prefers dark mode"),
        ("PREFERS  Dark Mode!", "prefers dark mode"),
        ("Releases are cut on Fridays", "Releases are cut on Fridays by the release captain"),
        ("don\u2019t use tabs", "Don't use tabs"),
        ("tea", "Tea."),
    ],
)
def test_what_is_said_already_is_known(new: str, old: str) -> None:
    assert compare(new, old) == "known"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Prefers short answers without emojis", "Prefers short answers"),
        ("Do not use tabs in Go", "Use tabs in Go"),
        ("喜欢简短的回答和代码", "喜欢简短的回答"),
    ],
)
def test_what_says_at_least_as_much_is_newer(new: str, old: str) -> None:
    assert compare(new, old) == "newer"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The server port is 8080", "The server port is 9090"),
        ("fact number 17 about deployment", "fact number 18 about deployment"),
        ("The alpha service stores sessions in Redis", "The beta service stores sessions in Redis"),
        ("Alice reviews what Bob writes", "Bob reviews what Alice writes"),
        ("Use tabs in Go", "Do not use tabs in Go or Python"),
        ("likes tea", "tea is grown in Assam"),
        ("coffee", "tea"),
        ("", "prefers dark mode"),
        (
            "Deploys on Friday",
            "Deploys on Friday need a ticket, a review, two approvals, a plan and a rollback",
        ),
    ],
)
def test_every_doubt_means_different(new: str, old: str) -> None:
    assert compare(new, old) == "different"


def test_words_are_folded_and_silent_ones_left_out() -> None:
    assert significant_words("The user's Boxes DOES pass this, Alice's too") == (
        "boxe",
        "pass",
        "alice",
        "too",
    )


def test_scripts_without_spaces_give_pairs() -> None:
    assert significant_words("回答短") == ("回答", "答短")
    assert significant_words("茶") == ("茶",)
