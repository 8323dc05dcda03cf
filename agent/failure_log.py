"""What the log says of a call that failed."""

import traceback
from pathlib import Path

from core.errors import MemlaneError
from core.logs import get_logger
from memory.errors import StoreUnusable

_log = get_logger(__name__)


def log_failure(method: str, error: Exception, *, kind: str) -> None:
    """Log what failed; a bug with where it came from, but never its message, which may quote memory."""
    known = isinstance(error, MemlaneError)
    stack = [] if known else traceback.extract_tb(error.__traceback__)
    frames = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in stack]
    facts = {"method": method, "error": type(error).__name__, "kind": kind}
    if isinstance(error, StoreUnusable):
        facts["reason"] = str(error)  # names the folder or file, quotes none
    _log.warning("call_failed", **facts, frames=frames or None)
