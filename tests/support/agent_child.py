"""The real agent child as a process, spoken to line by line."""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core import acp, jsonrpc
from core.ids import Kind, new_task_id, workspace_id
from tests.support.memory import documents_below
from tests.support.scripted_model import Script, ScriptedModel

LANE = "test/0123456789abcdef"
StartChild = Callable[[Script], tuple["AgentChild", ScriptedModel]]


class AgentChild:
    """A running child of one workspace on one memory base."""

    def __init__(self, workspace: Path, base: Path, environment: Mapping[str, str]) -> None:
        self.workspace = workspace
        self.base = base
        self._log_path = base.parent / f"{base.name}-agent.log"
        self._log = self._log_path.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "memlane", "agent"],
            cwd=workspace,
            env=child_environment(base, environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self._answers: queue.Queue[jsonrpc.Message] = queue.Queue()
        self._early: list[jsonrpc.Message] = []
        self._next_id = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def log(self) -> str:
        """What the child wrote to standard error so far."""
        return self._log_path.read_text()

    def call(self, method: str, params: Any, *, timeout_s: float = 60) -> Any:
        """Send a request and wait for its answer: the result, or the ``ErrorResponse``."""
        return self.answer(self.send(method, params), timeout_s=timeout_s)

    def send(self, method: str, params: Any) -> int:
        """Send a request; returns its id."""
        self._next_id += 1
        self.send_line(jsonrpc.request(self._next_id, method, params))
        return self._next_id

    def send_line(self, line: bytes) -> None:
        """Write bytes as they are."""
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def answer(self, message_id: int | str, *, timeout_s: float = 20) -> Any:
        """Wait for the answer of a request; answers of others are kept."""
        for early in self._early:
            if getattr(early, "id", None) == message_id:
                self._early.remove(early)
                return _result(early)
        while True:
            try:
                message = self._answers.get(timeout=timeout_s)
            except queue.Empty:
                raise AssertionError(f"no answer; the child's log:\n{self.log}") from None
            if getattr(message, "id", None) == message_id:
                return _result(message)
            self._early.append(message)

    def notifications(self, method: str) -> list[Any]:
        """Params of the notifications that came before the answers read so far; each is given once."""
        found = [one for one in self._early if isinstance(one, jsonrpc.Notification) and one.method == method]
        self._early = [one for one in self._early if one not in found]
        return [one.params for one in found]

    def remember(self, content: str, *, timeout_s: float = 20, **params: Any) -> Any:
        """Call the remember method with our meta."""
        return self.call(acp.REMEMBER, remember_params(self, content, **params), timeout_s=timeout_s)

    def close_stdin(self, *, timeout_s: float = 10) -> int:
        """End the child's input and wait for its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self.wait(timeout_s=timeout_s)

    def wait(self, *, timeout_s: float = 10) -> int:
        """Wait for the child's end."""
        return self._process.wait(timeout_s)

    def stop(self) -> None:
        """End the child if it still runs, and free everything."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(5)
        self._reader.join(5)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._log.close()

    def documents(self) -> dict[str, bytes]:
        """Every memory document below the base: path relative to it, content; indexes left out."""
        return {str(path.relative_to(self.base)): path.read_bytes() for path in documents_below(self.base)}

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._process.pid

    @property
    def workspace_id(self) -> str:
        """Id of the workspace it serves."""
        return workspace_id(str(self.workspace))

    @property
    def user_root(self) -> Path:
        """Where user memory is."""
        return self.base / "memories"

    @property
    def project_root(self) -> Path:
        """Where the workspace's project memory is."""
        slug = "".join(one if one.isascii() and one.isalnum() else "-" for one in str(self.workspace))
        return self.base / "projects" / slug / "memory"

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(jsonrpc.parse(line))


@contextmanager
def agent_child(
    tmp_path: Path, environment: Mapping[str, str] | None = None, *, name: str = "base"
) -> Iterator[AgentChild]:
    """Run a child in ``<tmp_path>/workspace`` on ``<tmp_path>/<name>``; both are made when missing."""
    workspace, base = tmp_path.resolve() / "workspace", tmp_path.resolve() / name
    workspace.mkdir(exist_ok=True)
    base.mkdir(exist_ok=True)
    child = AgentChild(workspace, base, environment or {})
    try:
        yield child
    finally:
        child.stop()


def child_environment(base: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """Environment of a child on this memory base, with nothing of who runs the tests."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("COVERAGE", "LANG", "LC_"))}
    return (
        kept | {"PATH": os.defpath, "HOME": str(base.parent), "MEMLANE_MEMORY_DIR": str(base)} | dict(extra)
    )


def assert_failed(answer: Any, kind: str, *, method: str = "remember") -> None:
    """Check that a call failed with this error kind, in the words of the method."""
    assert isinstance(answer, jsonrpc.ErrorResponse), answer
    ended = "timed out" if kind == f"{method}_timeout" else "failed"
    assert (answer.error_code, answer.message) == (-32099, f"Workspace memory {method} {ended}")
    assert answer.data["errorKind"] == kind


def remember_params(child: AgentChild, content: str, **params: Any) -> dict[str, Any]:
    """Params of a remember call; see ``task_params``."""
    return task_params(child, "remember", content=content, **params)


def task_params(child: AgentChild, kind: Kind, **params: Any) -> dict[str, Any]:
    """Params of a call; ``task``, ``fence``, ``timeout_ms``, ``client`` and ``dry_run`` go into our meta."""
    meta = {
        "taskId": params.pop("task", None) or new_task_id(kind),
        "laneId": LANE,
        "fence": params.pop("fence", 1),
        "timeoutMs": params.pop("timeout_ms", acp.AGENT_TIMEOUT_MS),
    }
    if params.pop("dry_run", False):
        meta["dryRun"] = True
    client = params.pop("client", None)
    if client is not None:
        meta["clientId"] = client
    return {"cwd": str(child.workspace), "_meta": {acp.TASK_META: meta}} | params


def _result(message: jsonrpc.Message) -> Any:
    return message.result if isinstance(message, jsonrpc.Response) else message
