"""The command line run in this process, and tasks as a service shows them."""

from typing import Any

from memlane.__main__ import main

QUEUED: dict[str, Any] = {
    "taskId": "remember-3f0c5f0e-5a0e-4e0e-9d2e-0a4a3c2f1b00",
    "status": "queued",
    "position": 1,
    "createdAt": "2026-01-01T00:00:00.000Z",
    "updatedAt": "2026-01-01T00:00:00.000Z",
}
RESULT = {"summary": "Saved \x1b[31mit.", "filesTouched": ["~/.qwen/a.md", "~/.qwen/b.md"]}
DONE = QUEUED | {"status": "completed", "result": RESULT, "position": None}
FAILED = QUEUED | {"status": "failed", "error": {"code": "remember_timeout", "message": "Too slow."}}


def run(*words: str) -> int:
    """Exit code of a command run in this process."""
    try:
        return main(words)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
