"""Exit codes of the command line, which error means which, and what is said of it."""

from enum import IntEnum

from core.errors import DependencyError, InputError, MemlaneError
from memlane.errors import MemlaneApiError, TryLater, Unavailable
from memlane.supervisor import PartRefused


class Exit(IntEnum):
    """What a command's exit code says."""

    OK = 0
    TASK_FAILED = 1  # or has not ended in time, or the doctor found something
    USAGE = 2
    UNREACHABLE = 3
    INTERRUPTED = 130


def exit_of(error: MemlaneError) -> Exit:
    """Choose the exit code for an error that ends a command."""
    if isinstance(error, PartRefused | InputError):
        return Exit.USAGE
    if isinstance(error, DependencyError | TryLater | Unavailable):
        return Exit.UNREACHABLE
    if isinstance(error, MemlaneApiError):
        return Exit.USAGE
    return Exit.TASK_FAILED


def complaint_of(error: MemlaneError) -> str:
    """The line that a person gets; empty for what a part has told already."""
    return "" if isinstance(error, PartRefused) else f"memlane: {error}\n"
