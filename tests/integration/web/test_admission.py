"""What takes long, when the token that it was asked with is revoked meanwhile."""

from collections.abc import Iterator

import pytest
from flask import Flask

from core.workspaces import Workspaces
from tests.support.callers import OWNER_TOKEN, Caller, named
from tests.support.client_sessions import enter
from tests.support.event_writer import EventWriter
from tests.support.web_app import AppRequests, application
from web.keyring import Keyring, KnownToken, digest_of, owners_token


class Tokens:
    """The owner's token and a client's, for as many more requests and looks as it is to be good."""

    def __init__(self) -> None:
        self.client = named("ci")
        self.looks_left = 100

    def read(self) -> list[KnownToken]:
        self.looks_left -= 1
        assert self.client.principal is not None
        known = [KnownToken(digest_of(b"ci"), self.client.principal)] if self.looks_left >= 0 else []
        return [owners_token(OWNER_TOKEN), *known]


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens()


@pytest.fixture(scope="module")
def app(redis_url: str, workspaces: Workspaces, tokens: Tokens) -> Iterator[Flask]:
    with application(redis_url, workspaces, keyring=Keyring(tokens.read)) as made:
        yield made


@pytest.fixture
def client(tokens: Tokens) -> Caller:
    tokens.looks_left = 100
    return tokens.client


@pytest.mark.parametrize("in_session", [False, True])
def test_a_stream_tells_nothing_more_once_its_token_is_revoked(
    app: Flask, redis_url: str, workspaces: Workspaces, client: Caller, tokens: Tokens, in_session: bool
) -> None:
    session = enter(AppRequests(app))["sessionId"]
    path = f"/session/{session}/events" if in_session else "/workspace/events"
    with app.test_client().open(path, headers=client.headers, buffered=False) as stream:
        frames = stream.iter_encoded()
        assert next(frames) == b"retry: 3000\n\n"

        tokens.looks_left = 0
        EventWriter(redis_url, workspaces.primary.id).append()

        assert list(frames) == []


def test_who_waits_for_a_task_is_not_told_of_it_once_the_token_is_revoked(
    app: Flask, client: Caller, tokens: Tokens
) -> None:
    task_id = AppRequests(app).post("/workspace/memory/remember", {"content": "x"}).json["taskId"]
    tokens.looks_left = 1

    answer = app.test_client().get(
        f"/workspace/memory/remember/{task_id}", headers={**client.headers, "Prefer": "wait=1"}
    )

    assert (answer.status_code, answer.get_json()["code"]) == (401, "unauthorized")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
