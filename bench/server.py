"""The Redis that measurements run on: the embedded one of `memlane up`, in a folder of its own."""

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from events.connect import connect
from memlane.embedded import EmbeddedRedis
from memlane.engine import Engine


@dataclass(frozen=True, slots=True)
class Ground:
    """Where measurements are made.

    Attributes:
        folder: empty at first, gone afterwards.
    """

    folder: Path
    redis: EmbeddedRedis

    def reset(self, *, fsync: str) -> None:
        """Empty the server, and let it write its log as ``always`` or ``everysec`` say."""
        with closing(connect(self.redis.state_url)) as client:
            client.config_set("appendfsync", fsync)
            client.flushall()

    def workspaces(self, count: int) -> list[Path]:
        """Folders to serve as workspaces, named ``w0``, ``w1`` and so on; the same for the same count."""
        folders = [self.folder / "workspaces" / f"w{number}" for number in range(count)]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        return folders


@contextmanager
def open_ground(engine: Engine) -> Iterator[Ground]:
    """A running server for the body."""
    with tempfile.TemporaryDirectory(prefix="memlane-bench-") as name:
        redis = EmbeddedRedis(Path(name) / "redis", engine)
        try:
            redis.start()
            yield Ground(Path(name).resolve(), redis)
        finally:
            redis.close()
