"""A whole service for tests: `memlane up` as a process of its own, in a folder of its own."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_LIMIT_S = 40.0
STOP_LIMIT_S = 15.0


@dataclass(frozen=True, slots=True)
class Running:
    """A service that is ready."""

    process: subprocess.Popen[bytes]
    url: str
    token: str
    redis_url: str
    token_file: Path


StartService = Callable[..., Running]


def environment(folder: Path, **changes: str) -> dict[str, str]:
    """This process's environment with a home of its own and nothing of memlane or a model in it."""
    private = ("MEMLANE_", "QWEN_", "OPENAI_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(private)}
    return {**kept, "HOME": str(folder), **changes}


def command(folder: Path, *arguments: str) -> list[str]:
    """`memlane up` on free ports with folders below ``folder``, made if missing."""
    for name in ("workspace", "memory"):
        (folder / name).mkdir(exist_ok=True)
    places = [
        "--home",
        f"{folder}/home",
        "--workspace",
        f"{folder}/workspace",
        "--memory-dir",
        f"{folder}/memory",
    ]
    return [sys.executable, "-P", "-m", "memlane", "up", "--port", "0", *places, *arguments]


@contextmanager
def running_memlane(
    folder: Path,
    arguments: Sequence[str] = (),
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[Running]:
    """Run a service for the body; it is stopped afterwards, hard if it must be."""
    process = subprocess.Popen(
        command(folder, "--json", *arguments),
        stdout=subprocess.PIPE,
        cwd=cwd or folder,
        env=env or environment(folder),
    )
    with process:
        try:
            yield _wait_ready(process)
        finally:
            process.terminate()
            try:
                process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def _wait_ready(process: subprocess.Popen[bytes]) -> Running:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], START_LIMIT_S)
    line = process.stdout.readline() if ready else b""
    assert line, "memlane up said nothing"
    facts = json.loads(line)
    token_file = Path(facts["tokenFile"])
    return Running(process, facts["url"], token_file.read_text().strip(), facts["redisUrl"], token_file)
