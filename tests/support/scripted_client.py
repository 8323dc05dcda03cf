"""SDK clients of a service that answers as it is told, and the answers that they get."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memlane.client import Client
from tests.support.scripted_service import Reply, ScriptedService, scripted_service

TASK: dict[str, Any] = {
    "taskId": "remember-3f0c5f0e-5a0e-4e0e-9d2e-0a4a3c2f1b00",
    "status": "queued",
    "contextMode": "workspace",
    "createdAt": "2026-01-01T00:00:00.000Z",
    "updatedAt": "2026-01-01T00:00:00.000Z",
    "workspaceId": "0295621f3cf988a7",
    "position": 1,
    "somethingNew": True,
}
DONE = TASK | {
    "status": "completed",
    "position": None,
    "result": {"summary": "Saved.", "filesTouched": ["~/.qwen/a.md"], "touchedScopes": ["user"]},
}
STREAM = {"Content-Type": "text/event-stream", "X-Qwen-Event-Epoch": "epoch-1"}


@contextmanager
def client_of(
    *replies: Reply, retry_s: float = 0, wait_for_place_s: float = 0
) -> Iterator[tuple[Client, ScriptedService]]:
    """A client of a service with these replies; nothing is tried again unless it is said."""
    with (
        scripted_service(replies) as service,
        Client(
            service.url,
            "secret",
            limit_s=5.0,
            reconnect_s=0.0,
            retry_s=retry_s,
            wait_for_place_s=wait_for_place_s,
        ) as client,
    ):
        yield client, service


def frames(*events: tuple[int | None, str]) -> bytes:
    """An event stream's bytes."""
    lines = ["retry: 3000", ""]
    for number, kind in events:
        body: dict[str, object] = {"id": number, "v": 1, "type": kind, "data": {}}
        lines += [f"id: {number}"] * (number is not None) + [
            f"event: {kind}",
            f"data: {json.dumps(body)}",
            "",
        ]
    return ("\n".join([*lines, ": heartbeat", ""]) + "\n").encode()
