"""Every route of the table, asked with every kind of token, in both forms of its path."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from core.ids import WorkspaceId
from core.workspaces import Workspace, Workspaces
from events.connect import connect
from tests.support.callers import OWNER, Caller, keyring_of, named
from tests.support.lane import LaneUnderTest
from tests.support.web_app import application, path_of
from web.route import Route, routes_of

REFUSED = (401, 403)


@pytest.fixture(scope="module")
def callers(workspaces: Workspaces) -> list[Caller]:
    _, second = workspaces
    return [
        Caller(None, None),
        Caller("wrong", None),
        OWNER,
        named("client"),
        named("operator", role="operator"),
        named("second-client", workspaces=frozenset({second.id})),
        named("second-operator", role="operator", workspaces=frozenset({second.id})),
    ]


@pytest.fixture(scope="module")
def app(redis_url: str, workspaces: Workspaces, callers: list[Caller]) -> Iterator[Flask]:
    with application(redis_url, workspaces, keyring=keyring_of(*callers)) as made:
        yield made


@dataclass(frozen=True)
class Ask:
    """One path of a route; ``workspace`` is None where the path means none."""

    route: Route
    path: str
    workspace: Workspace | None

    def is_answered_well(self, caller: Caller, status: int) -> bool:
        """Whether a status is what the declaration asks for."""
        if not self.route.asks_for_token:
            return status not in REFUSED or (self.route.role == "signed" and status == 401)
        if caller.principal is None:
            return status == 401
        allowed = caller.principal.workspaces
        is_inside = self.workspace is None or allowed is None or self.workspace.id in allowed
        if self.route.role not in ("client", caller.principal.role) or not is_inside:
            return status == 403
        # a route of no workspace may still be asked, in a body, for one that the token is not good for
        return status not in REFUSED or (status == 403 and self.workspace is None and allowed is not None)


def asks(app: Flask, workspaces: Workspaces) -> Iterator[Ask]:
    for route in routes_of(app).values():
        for rule in route.rules:
            if "<selector>" in rule:
                yield from (Ask(route, path_of(rule, workspace), workspace) for workspace in workspaces)
            else:
                meant = None if route.is_global else workspaces.primary
                yield Ask(route, path_of(rule, workspaces.primary), meant)


def status(app: Flask, method: str, path: str, caller: Caller, **sent: Any) -> int:
    with app.test_client().open(
        path, method=method, headers=caller.headers, buffered=False, **sent
    ) as answer:
        return answer.status_code


def test_every_route_answers_whom_its_declaration_lets_in(
    app: Flask, workspaces: Workspaces, callers: list[Caller]
) -> None:
    wrong = [
        (ask.route.method, ask.path, caller.token, got)
        for ask in asks(app, workspaces)
        for caller in callers
        if not ask.is_answered_well(caller, got := status(app, ask.route.method, ask.path, caller))
    ]

    assert wrong == []


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS"])
def test_what_comes_with_a_route_is_guarded_like_the_route(
    app: Flask, workspaces: Workspaces, callers: list[Caller], method: str
) -> None:
    wrong = [
        (ask.path, caller.token, got)
        for ask in asks(app, workspaces)
        for caller in callers
        if method == "OPTIONS" or ask.route.method == "GET"
        if not ask.is_answered_well(caller, got := status(app, method, ask.path, caller))
    ]

    assert wrong == []


def test_a_decision_on_a_review_is_repeated_by_those_only_who_may_decide(
    app: Flask, redis_url: str, workspaces: Workspaces, callers: list[Caller]
) -> None:
    lane = LaneUnderTest(connect(redis_url), workspace=workspaces.primary.id)
    task, _ = lane.submit(kind="review")
    lane.cancel(task)

    got = {
        caller.token: status(app, "POST", f"/workspace/memory/tasks/{task}/retry", caller)
        for caller in callers
        if caller.token in ("client", "operator")
    }

    assert got == {"client": 403, "operator": 202}


def test_a_decision_on_a_review_is_called_off_by_those_only_who_may_decide(
    app: Flask, redis_url: str, workspaces: Workspaces, callers: list[Caller]
) -> None:
    task, _ = LaneUnderTest(connect(redis_url), workspace=workspaces.primary.id).submit(kind="review")

    got = [
        (caller.token, status(app, "POST", f"/workspace/memory/tasks/{task}/cancel", caller))
        for caller in callers
        if caller.token in ("client", "operator")
    ]

    assert got == [("client", 403), ("operator", 202)]


@pytest.mark.parametrize(
    "path", ["/nope", "/", "/workspace", "/workspaces/x/nope", "/ops", "/workspace/memory"]
)
def test_an_unknown_path_is_told_to_those_only_who_have_a_token(
    app: Flask, callers: list[Caller], path: str
) -> None:
    seen = {caller.token: status(app, "GET", path, caller) for caller in callers}

    assert seen == {caller.token: 401 if caller.principal is None else 404 for caller in callers}


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "BREW"])
def test_another_method_is_told_to_those_only_who_have_a_token(
    app: Flask, callers: list[Caller], method: str
) -> None:
    seen = {caller.token: status(app, method, "/workspace/memory/remember", caller) for caller in callers}

    assert seen == {caller.token: 401 if caller.principal is None else 405 for caller in callers}


def test_a_route_that_declares_nothing_is_closed_to_all(redis_url: str, workspaces: Workspaces) -> None:
    with application(redis_url, workspaces) as app:
        app.add_url_rule("/forgotten", view_func=lambda: "open")

        answer = app.test_client().get("/forgotten", headers={"Authorization": "Bearer T"})

    assert (answer.status_code, answer.get_json()["code"]) == (403, "forbidden")


def test_a_limited_token_learns_nothing_of_other_workspaces(app: Flask, workspaces: Workspaces) -> None:
    headers = named("second-client").headers
    client = app.test_client()
    served, unknown, malformed = workspaces.primary.id, "0" * 16, "x"

    answers = [
        client.get(f"/workspaces/{selector}/memory/documents", headers=headers)
        for selector in (served, unknown, malformed, "%2Fetc")
    ]

    assert {(one.status_code, one.get_data()) for one in answers} == {
        (403, b'{"error":"This token may not do that","code":"forbidden"}')
    }


def test_a_limited_token_is_shown_its_own_workspaces_only(app: Flask, workspaces: Workspaces) -> None:
    _, second = workspaces

    body = app.test_client().get("/capabilities", headers=named("second-client").headers).get_json()

    assert body["workspaceCwd"] == second.path
    assert [one["id"] for one in body["workspaces"]] == [second.id]
    assert workspaces.primary.path not in str(body)


def test_a_refusal_comes_before_the_body_is_looked_at(app: Flask) -> None:
    broken = {"data": b"{", "content_type": "application/json"}
    path = "/workspace/memory/documents/user/user/tea.md/review"

    assert status(app, "POST", path, named("client"), **broken) == 403
    assert status(app, "POST", path, named("operator"), **broken) == 400


def test_what_is_broken_comes_before_the_workspace(app: Flask) -> None:
    broken = {"data": b"{", "content_type": "application/json"}

    assert status(app, "POST", "/workspace/memory/remember", named("second-client"), **broken) == 400


def test_a_token_of_other_letters_is_refused(app: Flask) -> None:
    for token in ("\u0422", "T\u0301", "\U0001f511", "T\x00"):
        sent = {"HTTP_AUTHORIZATION": f"Bearer {token}".encode().decode("latin-1")}
        assert status(app, "GET", "/capabilities", Caller(None, None), environ_base=sent) == 401


def test_a_token_for_workspaces_that_are_not_served_is_shown_nothing(
    redis_url: str, workspaces: Workspaces
) -> None:
    stranger = named("stranger", role="operator", workspaces=frozenset({WorkspaceId("f" * 16)}))
    with application(redis_url, workspaces, keyring=keyring_of(stranger)) as app:
        assert status(app, "GET", "/capabilities", stranger) == 403
