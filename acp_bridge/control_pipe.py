"""The pipe over which a child's guard hears how long the child may live."""

import os
from contextlib import suppress

from acp_bridge.guard import until_line


class ControlPipe:
    """The worker's end of the pipe. Nobody else may hold it: it ends when we do, which the guard sees."""

    def __init__(self) -> None:
        """Open nothing yet; until ``open`` the other methods do nothing."""
        self._write_fd: int | None = None

    def open(self) -> int:
        """Make the pipe and return the guard's end, which the caller passes on and closes.

        Raises:
            OSError: no descriptor is free.
        """
        guard_fd, self._write_fd = os.pipe()
        os.set_blocking(self._write_fd, False)
        return guard_fd

    def extend_to(self, deadline_ms: int) -> None:
        """Let the child live until this moment, in milliseconds since boot. Never blocks.

        A guard that is gone or has stopped reading isn't told, which has no effect but its killing the child.
        """
        if self._write_fd is not None:
            with suppress(BlockingIOError, BrokenPipeError):
                os.write(self._write_fd, until_line(deadline_ms))

    def close(self) -> None:
        """Close our end, which kills a child that is still there. A second call does nothing."""
        if self._write_fd is not None:
            os.close(self._write_fd)
            self._write_fd = None
