"""Clients with sessions, over HTTP."""

import json
from collections.abc import Mapping
from typing import Any

from tests.support.web_server import AUTHORIZED, Answer, Requests

NO_SESSION = "00000000-0000-4000-8000-000000000000"


def as_client(client: str) -> dict[str, str]:
    """Headers of a request by a client; empty for one that does not say which."""
    return {**AUTHORIZED, "Content-Type": "application/json", "X-Qwen-Client-Id": client}


def post(web: Requests, path: str, body: Any = None, *, client: str = "") -> Answer:
    """Post JSON as a client."""
    return web.request("POST", path, headers=as_client(client), body=json.dumps(body or {}).encode())


def enter(web: Requests, **body: Any) -> Mapping[str, Any]:
    """Take part in a session."""
    answer = post(web, "/session", body)
    assert answer.status == 200, answer.raw
    entry: dict[str, Any] = answer.json
    return entry


def close(web: Requests, session: str, *, client: str = "") -> Answer:
    """Close a session as a client."""
    return web.request("DELETE", f"/session/{session}", headers=as_client(client))
