from typing import Any

import pytest

from web.errors import InvalidContent, InvalidContextMode, InvalidQuery, InvalidScope
from web.schemas import DreamBody, ForgetBody, RememberBody, parse_body

BLANK = "`content` must be a non-empty string"
TOO_LONG = "`content` exceeds the 65536-byte limit"


def test_defaults_fill_what_was_left_out() -> None:
    body = parse_body(RememberBody, {"content": "  tea \ufeff", "foo": 1})

    assert body.to_input() == {"content": "tea", "contextMode": "workspace"}


def test_everything_that_was_sent_is_handed_on() -> None:
    body = parse_body(RememberBody, {"content": "tea", "contextMode": "clean", "scope": "user"})

    assert body.to_input() == {"content": "tea", "contextMode": "clean", "scope": "user"}


def test_a_null_mode_counts_as_left_out() -> None:
    assert parse_body(RememberBody, {"content": "x", "contextMode": None}).context_mode == "workspace"


def test_what_can_not_be_stored_is_replaced() -> None:
    assert parse_body(RememberBody, {"content": "a\0b \ud800 c"}).content == "a b \ufffd c"


@pytest.mark.parametrize("content", ["", " \n\t", "\u00a0\u3000\ufeff", "\0", None, 5, True, ["x"], {"a": 1}])
def test_blank_content_is_refused(content: Any) -> None:
    with pytest.raises(InvalidContent, match=BLANK):
        parse_body(RememberBody, {"content": content})


def test_missing_content_is_refused() -> None:
    with pytest.raises(InvalidContent, match=BLANK):
        parse_body(RememberBody, {})


@pytest.mark.parametrize("text", ["x" * 65_536, "é" * 32_768, "\u200b"])
def test_content_up_to_the_limit_is_taken(text: str) -> None:
    assert parse_body(RememberBody, {"content": f" {text}\n"}).content == text


@pytest.mark.parametrize("text", ["x" * 65_537, "é" * 32_769, "😀" * 16_385, "\ud800" * 21_846])
def test_content_over_the_limit_is_refused(text: str) -> None:
    with pytest.raises(InvalidContent, match=TOO_LONG):
        parse_body(RememberBody, {"content": text})


@pytest.mark.parametrize("mode", ["WORKSPACE", "", 5, ["clean"], "session", " clean ", "\ud800", False, {}])
def test_other_modes_are_refused(mode: Any) -> None:
    with pytest.raises(InvalidContextMode, match='must be "workspace", "clean", or omitted'):
        parse_body(RememberBody, {"content": "x", "contextMode": mode, "scope": "bad"})


@pytest.mark.parametrize("scope", [None, "", "team", "User", ["user"], 0, "\ud800"])
def test_other_scopes_are_refused(scope: Any) -> None:
    with pytest.raises(InvalidScope, match='must be "project", "user", or omitted'):
        parse_body(RememberBody, {"content": "x", "scope": scope})


def test_names_of_python_are_no_names_of_the_wire() -> None:
    assert parse_body(RememberBody, {"content": "x", "context_mode": "clean"}).context_mode == "workspace"


@pytest.mark.parametrize(("given", "kept"), [(True, {"dryRun": True}), (False, {}), (None, {})])
def test_a_dry_run_is_kept_only_when_it_is_one(given: Any, kept: dict[str, Any]) -> None:
    assert parse_body(DreamBody, {"dryRun": given}).to_input() == kept


def test_a_query_is_read_as_content_is() -> None:
    assert parse_body(ForgetBody, {"query": " a\0b ", "contextMode": 5}).to_input() == {"query": "a b"}


def test_the_first_check_that_fails_is_told() -> None:
    with pytest.raises(InvalidQuery):
        parse_body(ForgetBody, {"scope": "bad", "dryRun": "bad"})
