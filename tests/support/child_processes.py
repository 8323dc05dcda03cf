"""What the kernel says about processes: the one place of the tests that reads ``/proc/<pid>``."""

import os
import select
from contextlib import suppress
from pathlib import Path

_DEAD = frozenset("ZX")


def children_of(pid: int) -> list[int]:
    """Direct children; none when the process is gone."""
    try:
        texts = [(task / "children").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []
    return [int(word) for text in texts for word in text.split()]


def descendants_of(pid: int) -> list[int]:
    """Children, their children and so on."""
    found = children_of(pid)
    for child in found:
        found += children_of(child)
    return found


def command_of(pid: int) -> list[str]:
    """Words of the command line; none when the process is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def channels_process(supervisor: int) -> int:
    """The process below a supervisor that serves channels."""
    return next(pid for pid in descendants_of(supervisor) if command_of(pid)[-2:] == ["channel", "run"])


def environment_of(pid: int) -> list[str]:
    """The environment it was started with, as ``NAME=value``."""
    return Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")[:-1]


def running_in_group(group: int) -> list[int]:
    """Ids of the processes in this process group that are not dead; a zombie is."""
    found = []
    for folder in Path("/proc").iterdir():
        facts = _state_and_group(folder) if folder.name.isdecimal() else None
        if facts is not None and facts[1] == group and facts[0] not in _DEAD:
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
