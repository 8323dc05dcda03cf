"""Grants as a worker gets them from a lane."""

from typing import Any

from core.ids import ClaimId, TaskId, WorkspaceId
from jobs.lanes import Grant
from jobs.tasks import Fence, Task


def grant(
    content: str = "a fact", *, mode: Any = "run", attempt: int = 1, cancel_requested: bool = False
) -> Grant:
    """The right to run a remember task of workspace ``w1`` under fence 42."""
    task = Task(
        TaskId("remember-1"),
        WorkspaceId("w1"),
        "remember",
        "running",
        1,
        1,
        attempt=attempt,
        client_id="client_a",
        cancel_requested=cancel_requested,
    )
    return Grant(mode, task, ClaimId("c"), Fence(42), {"content": content, "scope": "user"})
