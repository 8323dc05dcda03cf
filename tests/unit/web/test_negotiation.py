import pytest
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from web.negotiation import JSON, is_acceptable

STREAM = ("text/event-stream", *JSON)


def accepts(header: str | None, offered: tuple[str, ...] = JSON) -> bool:
    return is_acceptable(parse_accept_header(header, MIMEAccept), offered)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "*/*",
        "*",
        "application/*",
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json;version=2",
        "application/problem+json",
        "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8",
        "text/plain, application/json;q=0.1",
        "application/json;q=0, */*;q=0.1, application/json",
    ],
)
def test_json_is_sent_to_whoever_does_not_exclude_it(header: str | None) -> None:
    assert accepts(header)


@pytest.mark.parametrize(
    "header",
    [
        "text/html",
        "text/*",
        "application/xml",
        "*/*;q=0",
        "text/event-stream",
        "application/*;q=0, text/html",
    ],
)
def test_json_is_not_sent_to_who_takes_other_things_only(header: str) -> None:
    assert not accepts(header)


def test_a_closer_name_counts_more_than_a_wider_one() -> None:
    assert not accepts("application/json;q=0, application/problem+json;q=0, */*")
    assert accepts("application/*;q=0, application/json;q=0.1")


def test_a_stream_is_sent_to_who_asks_for_one() -> None:
    assert accepts("text/event-stream", STREAM)
    assert accepts("application/json", STREAM)
    assert not accepts("text/html", STREAM)
