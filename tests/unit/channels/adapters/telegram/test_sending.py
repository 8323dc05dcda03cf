"""What is done about a message that Telegram did not take."""

import pytest
from telegram.error import TimedOut

from channels.adapters.telegram.api import ApiRefused
from channels.adapters.telegram.sending import TooLong, not_taken, other_form, thread_number
from channels.drafts import Draft

DRAFT = Draft("7", "hello")
TOO_LONG = ApiRefused(400, "Bad Request: message is too long")


@pytest.mark.parametrize(
    "error",
    [ApiRefused(400, "Bad Request: chat not found"), ApiRefused(403, "Forbidden"), ApiRefused(401, "")],
)
def test_a_refusal_for_good_is_not_tried_again(error):
    assert other_form(DRAFT, error) == ()
    assert not not_taken(DRAFT, error).may_pass


def test_a_refusal_of_plain_text_has_no_plainer_form():
    plain = Draft("7", "hello", is_plain=True)

    assert other_form(plain, ApiRefused(400, "Bad Request: can't parse entities")) == ()


def test_a_chat_that_moved_to_where_it_is_is_not_followed_in_a_circle():
    assert other_form(Draft("-1007", "hello"), ApiRefused(400, "", moved_to="-1007")) == ()


def test_what_is_as_short_as_can_be_is_not_split_nor_tried_again():
    refused = not_taken(DRAFT, TooLong("message is too long"))

    assert (refused.instead, refused.may_pass) == ((), False)


def test_blanks_that_make_a_message_too_long_are_left_out():
    (shorter,) = other_form(Draft("7", "\n" * 5_000 + "hello"), TOO_LONG)

    assert shorter.text == "hello"


def test_halves_are_split_again_until_they_fit():
    waiting, parts = [Draft("7", "word " * 800)], []
    while waiting:
        draft = waiting.pop()
        shorter = other_form(draft, TOO_LONG) if len(draft.text) > 100 else ()
        waiting += shorter
        parts += [] if shorter else [draft.text]

    assert all(len(part) <= 100 for part in parts)
    assert "".join("".join(part.split()) for part in parts) == "word" * 800


@pytest.mark.parametrize(
    ("error", "may_pass"), [(TimedOut(), True), (ApiRefused(502, ""), True), (TOO_LONG, False)]
)
def test_what_passes_is_waited_for(error, may_pass):
    assert not_taken(DRAFT, error).may_pass is may_pass


@pytest.mark.parametrize(("thread_id", "number"), [(None, None), ("1", None), ("42", 42)])
def test_a_topic_is_named_by_its_number_but_the_general_one(thread_id, number):
    assert thread_number(thread_id) == number
