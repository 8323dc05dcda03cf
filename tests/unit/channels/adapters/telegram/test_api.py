"""What Telegram's answers are read as."""

import json

import pytest
from telegram.error import TelegramError

from channels.adapters.telegram.api import BotRequest, PollRequest, reason_of, refusal_in


@pytest.mark.parametrize("payload", [b"", b"<html>", b"[]", b"7", b"{}", b'{"ok": true}', b"[" * 100_000])
def test_what_is_no_answer_of_telegram_s_is_an_error(payload):
    with pytest.raises(TelegramError):
        BotRequest.parse_json_payload(payload)


def test_updates_that_can_t_be_read_are_empty_and_keep_their_number():
    updates = [{"update_id": 1, "message": {"message_id": "?"}}, {"update_id": 2}, {"no": "id"}, 7]

    answer = PollRequest.parse_json_payload(json.dumps({"ok": True, "result": updates}).encode())

    assert answer["result"] == [{"update_id": 1}, {"update_id": 2}]


def test_a_list_of_updates_that_is_none_is_left_to_the_client():
    assert PollRequest.parse_json_payload(b'{"ok": true, "result": true}')["result"] is True


def test_a_refusal_says_what_telegram_asks_for():
    told = {"description": "Too Many Requests", "parameters": {"retry_after": 5, "migrate_to_chat_id": -1007}}

    refused = refusal_in(429, json.dumps(told).encode())

    assert (refused.status, refused.retry_after_s, refused.moved_to) == (429, 5.0, "-1007")
    assert reason_of(refused) == "429 Too Many Requests"


@pytest.mark.parametrize("payload", [b"<html>Bad Gateway</html>", b"[]", b'{"parameters": 7}'])
def test_a_refusal_of_something_else_between_has_its_status(payload):
    refused = refusal_in(502, payload)

    assert (refused.status, refused.description, refused.retry_after_s) == (502, "", None)


def test_a_reason_names_no_address():
    error = TelegramError("to https://api.telegram.org/bot4711:secret")
    error.__cause__ = OSError("https://api.telegram.org/bot4711:secret")

    assert reason_of(error) == "no answer (OSError)"
