"""What a child tells without being asked: how far its tasks are."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from core import acp, jsonrpc
from core.logs import get_logger
from core.text import well_formed

MAX_COUNT = 1_000_000
MAX_TOOL_CHARS = 64

ProgressListener = Callable[[acp.Progress], None]

_log = get_logger(__name__)


def ignore_progress(_progress: acp.Progress) -> None:
    """Listen to nothing."""


class Notices:
    """Gives the progress of running tasks to who listens; counts and skips all else."""

    def __init__(self) -> None:
        self._listeners: dict[str, ProgressListener] = {}
        self._skipped = 0

    @contextmanager
    def heard_by(self, listener: ProgressListener, *, task_id: str) -> Iterator[None]:
        """Have this listener hear of the task while the body runs; it must not block."""
        self._listeners[task_id] = listener
        try:
            yield
        finally:
            self._listeners.pop(task_id, None)

    def take(self, notice: jsonrpc.Notification, *, pid: int, is_ours: bool) -> None:
        """Take in one message of the child with this process id; a foreign one's mean nothing to us."""
        progress = _progress_in(notice) if is_ours else None
        listener = self._listeners.get(progress.task_id) if progress is not None else None
        if progress is None or listener is None:
            self._skip(pid)
        else:
            listener(progress)

    def _skip(self, pid: int) -> None:
        self._skipped += 1
        if self._skipped.bit_count() == 1:  # 1, 2, 4, 8…: a chatty child must not flood the log
            _log.info("agent_notices_skipped", pid=pid, skipped=self._skipped)


def _progress_in(notice: jsonrpc.Notification) -> acp.Progress | None:
    """The progress that it tells, its text cut to what is shown; None for what can't be any."""
    if notice.method != acp.PROGRESS:
        return None
    try:
        progress = acp.Progress.model_validate(notice.params)
    except ValidationError:
        return None
    if max(progress.turn, progress.max_turns, progress.files_touched) > MAX_COUNT:
        return None
    tool = progress.last_tool
    if tool:
        return progress.model_copy(update={"last_tool": well_formed(tool[:MAX_TOOL_CHARS])})
    return progress
