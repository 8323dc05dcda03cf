"""What the kernel says about processes, for tests that must leave none behind."""

import os
import select
from contextlib import suppress
from pathlib import Path

_DEAD = frozenset("ZX")


def running_in_group(group: int) -> list[int]:
    """Ids of the processes in this process group that are not dead; a zombie is."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and _state_and_group(folder) is not None:
            state, its_group = _state_and_group(folder) or ("X", 0)
            if its_group == group and state not in _DEAD:
                found.append(int(folder.name))
    return found


def is_running(pid: int) -> bool:
    """Whether this process exists and is not dead."""
    found = _state_and_group(Path(f"/proc/{pid}"))
    return found is not None and found[0] not in _DEAD


def wait_until_exit(pid: int, *, limit_s: float = 10.0) -> None:
    """Block until this process has exited, reaped or not; at once if there is none."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            ready, _, _ = select.select([descriptor], [], [], limit_s)
            assert ready, f"process {pid} is still running"
        finally:
            os.close(descriptor)


def wait_until_group_is_gone(group: int, *, limit_s: float = 10.0) -> None:
    """Block until no process of this group is left."""
    for pid in running_in_group(group):
        wait_until_exit(pid, limit_s=limit_s)


def open_descriptors() -> int:
    """How many file descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - one more descriptor either way


def _state_and_group(folder: Path) -> tuple[str, int] | None:
    try:
        text = (folder / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, _parent, group = text.rpartition(")")[2].split()[:3]
    return state, int(group)
