"""Proof of death: a lock that a worker and all its children hold for as long as any of them lives.

A lock file of a unique name lies on a file system of this host's memory. Whoever gets its lock knows that
its worker is dead, and every process that inherited the descriptor too, so its leases can be ended at once
instead of running out. Source: design page "Lanes", sections 0.13 and 4.6.
"""

import fcntl
import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from core.ids import new_uuid
from core.logs import get_logger
from core.settings import Settings

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - made private below, and checked
_SUFFIX = ".lock"

_log = get_logger(__name__)


def open_slot(settings: Settings) -> "Slot":
    """Take a slot among the workers of the same Redis and deployment on this host.

    Raises:
        ConfigError: no Redis is configured.
    """
    folders = [settings.run_dir, settings.session_run_dir, _SHARED_MEMORY]
    facts = f"{settings.state}\0{settings.deployment or ''}"
    group = hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Slot([folder for folder in folders if folder is not None], group=group)


class Slot:
    """This process's own lock, and a look at those of its siblings.

    Attributes:
        name: unique on earth; claim ids of the worker begin with it.
        descriptor: to be inherited by every child; None when there is no safe place for locks.
    """

    def __init__(self, folders: Sequence[Path], *, group: str) -> None:
        """Take a lock in the first folder that is fit.

        Args:
            folders: candidates, best first. Fit means: ours alone, and on a tmpfs, which no other host sees.
            group: workers of one group share leases (same Redis, same deployment).
        """
        self.name = new_uuid()
        self._folder = next((place for folder in folders if (place := _fit_folder(folder, group))), None)
        self.descriptor = self._lock_own()

    def find_dead(self, bury: Callable[[str], object]) -> None:
        """Call ``bury`` with the name of each sibling that is proven dead, then forget it.

        What ``bury`` raises passes through, and the sibling is found again the next time.
        """
        if self._folder is None:
            return
        for path in self._folder.glob(f"*{_SUFFIX}"):
            if path.stem != self.name:
                _bury_if_dead(path, bury)

    def close(self) -> None:
        """Give the lock back; children that still hold it keep it."""
        if self.descriptor is not None and self._folder is not None:
            (self._folder / f"{self.name}{_SUFFIX}").unlink(missing_ok=True)
            os.close(self.descriptor)
            self.descriptor = None

    def _lock_own(self) -> int | None:
        if self._folder is None:
            _log.warning("no_slot", reason="no private tmpfs folder; a dead worker's leases must run out")
            return None
        path = self._folder / f"{self.name}{_SUFFIX}"
        draft = path.with_suffix(".new")
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.rename(path)  # a sibling must never see it unlocked
        return descriptor


def _bury_if_dead(path: Path, bury: Callable[[str], object]) -> None:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return  # another sibling was quicker
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        bury(path.stem)
        path.unlink(missing_ok=True)
    except BlockingIOError:
        return  # it lives
    finally:
        os.close(descriptor)


def _fit_folder(folder: Path, group: str) -> Path | None:
    place = folder / f"memlane-{os.getuid()}" / group
    with suppress(OSError):
        for path in (place.parent, place):
            path.mkdir(mode=0o700, exist_ok=True)
            facts = path.lstat()
            if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o077:
                return None
        return place if _is_tmpfs(place) else None
    return None


def _is_tmpfs(folder: Path) -> bool:
    device = folder.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines():
        fields, _, rest = line.partition(" - ")
        if fields.split()[2] == wanted:
            return rest.split()[0] == "tmpfs"
    return False
