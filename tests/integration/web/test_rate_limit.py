"""How often a token may ask for work."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask

from core.workspaces import Workspaces
from memlane.embedded import EmbeddedRedis
from tests.support.callers import OWNER, Caller, keyring_of, named
from tests.support.web_app import application
from web.throttle import NAMED_LIMIT

CANCEL = "/workspace/memory/tasks/x/cancel"


@pytest.fixture
def caller() -> Caller:
    """Somebody who has not asked for anything yet."""
    return named(f"ci-{uuid4()}")


@pytest.fixture
def app(redis_url: str, workspaces: Workspaces, caller: Caller) -> Iterator[Flask]:
    with application(redis_url, workspaces, keyring=keyring_of(caller), rate_limit=2) as made:
        yield made


def ask(app: Flask, method: str, path: str, caller: Caller, **sent: Any) -> Any:
    headers = {**caller.headers, **sent.pop("more", {})}
    return app.test_client().open(path, method=method, headers=headers, **sent)


def test_an_answer_says_where_its_caller_stands(app: Flask, caller: Caller) -> None:
    answer = ask(app, "POST", CANCEL, caller)

    assert answer.status_code == 404
    assert answer.headers["RateLimit-Policy"] == '"token";q=2;w=60'
    assert answer.headers["RateLimit"] == '"token";r=1;t=30'


def test_one_too_many_is_refused_before_its_body_is_read(app: Flask, caller: Caller) -> None:
    broken = {"data": b"{", "content_type": "application/json"}
    seen = [ask(app, "POST", CANCEL, caller, **broken).status_code for _ in range(3)]

    refused = ask(app, "POST", CANCEL, caller, **broken)

    assert seen == [400, 400, 429]
    assert refused.get_json() == {"error": "Rate limit exceeded", "code": "rate_limit_exceeded"}
    assert 1 <= int(refused.headers["Retry-After"]) <= 30
    assert refused.headers["RateLimit"].startswith('"token";r=0;t=')


def test_a_refused_request_changes_nothing_and_leaves_no_act(app: Flask, caller: Caller) -> None:
    for _ in range(2):
        ask(app, "POST", CANCEL, caller)

    ask(app, "POST", "/workspace/memory/revisions/r1/undo", caller)

    entries = ask(app, "GET", "/ops/audit?outcome=refused", OWNER).get_json()["entries"]
    assert [one["action"] for one in entries if one["token"] == caller.token] == ["cancel_task"] * 2


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_reading_is_not_counted(app: Flask, caller: Caller, method: str) -> None:
    answers = [ask(app, method, "/capabilities", caller) for _ in range(5)]

    assert {one.status_code for one in answers} == {200}
    assert all("RateLimit" not in one.headers for one in answers)


def test_what_a_caller_says_of_itself_gets_it_nothing(app: Flask, caller: Caller) -> None:
    seen = [
        ask(app, "POST", CANCEL, caller, more={"X-Forwarded-For": f"10.0.0.{n}", "X-Qwen-Client-Id": f"c{n}"})
        for n in range(3)
    ]

    assert seen[-1].status_code == 429


def test_strangers_take_nothing_from_anybody(app: Flask, caller: Caller) -> None:
    for _ in range(5):
        assert ask(app, "POST", CANCEL, Caller("wrong", None)).status_code == 401

    assert ask(app, "POST", CANCEL, caller).headers["RateLimit"].startswith('"token";r=1;')


def test_requests_that_go_nowhere_count_too(app: Flask, caller: Caller) -> None:
    seen = [ask(app, "POST", "/nope", caller).status_code for _ in range(3)]

    assert seen == [404, 404, 429]


def test_unless_configured_named_tokens_are_limited_and_the_owners_is_not(
    redis_url: str, workspaces: Workspaces, caller: Caller
) -> None:
    with application(redis_url, workspaces, keyring=keyring_of(caller)) as app:
        ours, theirs = (ask(app, "POST", CANCEL, one) for one in (OWNER, caller))

    assert "RateLimit" not in ours.headers
    assert theirs.headers["RateLimit-Policy"] == f'"token";q={NAMED_LIMIT};w=60'


def test_nobody_is_limited_if_that_is_configured(
    redis_url: str, workspaces: Workspaces, caller: Caller
) -> None:
    with application(redis_url, workspaces, keyring=keyring_of(caller), rate_limit=0) as app:
        assert "RateLimit" not in ask(app, "POST", CANCEL, caller).headers


def test_without_redis_the_limit_adds_no_failure_of_its_own(
    own_redis: EmbeddedRedis, workspaces: Workspaces, caller: Caller
) -> None:
    with application(own_redis.state_url, workspaces, keyring=keyring_of(caller), rate_limit=1) as app:
        own_redis.close()
        answers = [ask(app, "POST", "/workspace/memory/remember", caller, json={}) for _ in range(3)]

    assert [one.get_json()["code"] for one in answers] == ["invalid_content"] * 3
