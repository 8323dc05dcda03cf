"""The Python SDK: a client of a running memlane service.

``Client().remember("The staging database is called heron.")`` asks; ``Client.wait`` waits for the end.
"""

import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self
from urllib.parse import quote

import httpx2
from pydantic import ValidationError

from core import clock
from core.acp import ContextMode, Scope
from core.settings import ClientSettings, load_client_settings
from memlane import transport
from memlane.credentials import check_token, read_token, token_file
from memlane.errors import MemlaneApiError, Unavailable, Unreachable, WaitTimeout
from memlane.models import Event, Task

_FIRST_POLL_S = 0.05
_SLOWEST_POLL_S = 1.0
_SILENCE_LIMIT_S = 45.0  # three heartbeats of an event stream


class Client:
    """Talks to one service. Several threads may share one; close it, or use it in ``with``."""

    def __init__(
        self,
        base_url: str | None = None,
        token: str | None = None,
        *,
        limit_s: float = 10.0,
        reconnect_s: float = 1.0,
    ) -> None:
        """Prepare a client; nothing is sent yet.

        Args:
            base_url: ``MEMLANE_URL`` unless given, ``http://127.0.0.1:4170`` if that is unset, too.
            token: ``MEMLANE_TOKEN`` unless given, else what ``<MEMLANE_HOME>/token`` holds, else none.
            limit_s: longest wait for one answer, seconds.
            reconnect_s: pause before a lost event stream is asked for again, seconds.

        Raises:
            ConfigError: the URL is none, the token can't be read or sent, or a setting can't be used.
        """
        settings = load_client_settings()
        chosen = _configured_token(settings) if token is None else check_token(token, source="the call")
        self._reconnect_s = reconnect_s
        self._http = transport.open_http(base_url or settings.url, chosen, limit_s=limit_s)

    def remember(
        self,
        content: str,
        *,
        context_mode: ContextMode | None = None,
        scope: Scope | None = None,
        workspace: str | None = None,
    ) -> Task:
        """Ask for a fact to be remembered; the task runs later, in the workspace's lane.

        Args:
            content: 1 to 65,536 UTF-8 bytes after trimming.
            context_mode: ``clean`` keeps what is known already from the agent; the service's default is
                ``workspace``.
            scope: where it must go; None lets the agent choose.
            workspace: id or absolute path of a configured one; None means the primary.

        Raises:
            MemlaneApiError: refused; QueueFull says when to come back.
            Unreachable: no answer; it may have been accepted all the same.
        """
        fields = {"content": content, "contextMode": context_mode, "scope": scope}
        body = {name: value for name, value in fields.items() if value is not None}
        return _task(transport.send(self._http, "POST", f"{_base(workspace)}/memory/remember", body=body))

    def get(self, task_id: str, *, workspace: str | None = None) -> Task:
        """Read a task.

        Raises:
            NotFound: unknown, expired, of another workspace, or of another client.
            MemlaneApiError: another refusal.
            Unreachable: no answer.
        """
        kind = quote(task_id.partition("-")[0], safe="")
        path = f"{_base(workspace)}/memory/{kind}/{quote(task_id, safe='')}"
        return _task(transport.send(self._http, "GET", path))

    def wait(
        self, task: Task, timeout_s: float = 310.0, *, on_change: Callable[[Task], object] | None = None
    ) -> Task:
        """Wait until a task has ended, however it ended; a service that is away for a moment is waited for.

        Args:
            timeout_s: longest wait, seconds; the default covers the longest run of one task.
            on_change: called with the task whenever its status or position is another than before.

        Raises:
            WaitTimeout: it has not ended yet.
            NotFound: the service no longer knows it.
        """
        deadline_ms = clock.boot_ms() + int(timeout_s * 1000)
        pause_s = _FIRST_POLL_S
        while not task.finished:
            if clock.boot_ms() >= deadline_ms:
                raise WaitTimeout(f"{task.task_id} is still {task.status} after {timeout_s:g} s")
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _SLOWEST_POLL_S)
            before, task = task, self._read_again(task)
            if on_change is not None and (task.status, task.position) != (before.status, before.position):
                on_change(task)
        return task

    def events(self, *, last_event_id: int | None = None, workspace: str | None = None) -> Iterator[Event]:
        """Follow a workspace's events; a lost connection is resumed where it broke. It never ends by itself.

        Args:
            last_event_id: id of the last event already seen; None starts with what happens from now on.
            workspace: id or absolute path of a configured one; None means the primary.

        Raises:
            MemlaneApiError: refused.
            Unreachable: the first connection failed; later ones are tried again for ever.
        """
        position = transport.Position(last_event_id)
        path = f"{_base(workspace)}/events"
        while True:
            try:
                for text in transport.follow(self._http, path, position, silence_s=_SILENCE_LIMIT_S):
                    yield Event.model_validate_json(text)
            except (Unreachable, Unavailable):
                if not position.connected:
                    raise
            time.sleep(self._reconnect_s)

    def close(self) -> None:
        """Close the connections; repeating it does nothing."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read_again(self, task: Task) -> Task:
        try:
            return self.get(task.task_id, workspace=task.workspace_id)
        except (Unreachable, Unavailable):
            return task


def _configured_token(settings: ClientSettings) -> str | None:
    if settings.token is not None:
        return check_token(settings.token.get_secret_value(), source="MEMLANE_TOKEN")
    return read_token(token_file(settings.home.expanduser()))


def _base(workspace: str | None) -> str:
    return "/workspace" if workspace is None else f"/workspaces/{quote(workspace, safe='')}"


def _task(answer: httpx2.Response) -> Task:
    try:
        return Task.model_validate_json(answer.content)
    except ValidationError:
        message = "the answer is not that of a memlane service"
        raise MemlaneApiError(message, status=answer.status_code) from None
