"""Our agent child, made to wait at chosen steps until the test lets it go on.

Run as ``python gated_agent.py FOLDER``. A gate is a file ``<step>-<workspace folder's name>`` in FOLDER. The
one child that takes it, by renaming it to ``held-<pid>-…``, waits until that file is gone.

Steps: ``started`` before anything is read, ``sealed`` when the fence is stored, ``staged`` when all is ready
to commit, ``committed`` when it has, and has not answered, ``refused`` when it may not commit any more.
"""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOOK_S = 0.01


def main(folder: Path) -> int:
    from agent import server
    from core.settings import ModelSettings, load_settings
    from memory.errors import LeaseLost
    from memory.store import Store

    def gated(
        call: Callable[..., Any], *, before: str = "", after: str = "", refused: str = ""
    ) -> Callable[..., Any]:
        def passing_gates(*args: Any, **kwargs: Any) -> Any:
            pass_gate(folder, before)
            try:
                result = call(*args, **kwargs)
            except LeaseLost:
                pass_gate(folder, refused)
                raise
            pass_gate(folder, after)
            return result

        return passing_gates

    pass_gate(folder, "started")
    Store.seal = gated(Store.seal, after="sealed")  # type: ignore[method-assign] # the point of this child
    commit = gated(Store.commit, before="staged", after="committed", refused="refused")
    Store.commit = commit  # type: ignore[method-assign] # the point of this child
    return server.serve(load_settings(), ModelSettings())


def pass_gate(folder: Path, step: str) -> None:
    """Wait here if there is a gate, and it is this process that takes it."""
    place = f"{step}-{Path.cwd().name}"
    held = folder / f"held-{os.getpid()}-{place}"
    try:
        (folder / place).rename(held)
    except FileNotFoundError:
        return
    never = threading.Event()
    while held.exists():
        never.wait(LOOK_S)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
