"""Our agent child, made to die once between the journal's fsync and its answer.

Run as ``python crashing_agent.py MARKER``: the process that creates the marker file is the one that dies.
"""

import os
import signal
import sys
from pathlib import Path


def main(marker: Path) -> int:
    from agent import server
    from core.settings import load_model_settings, load_settings
    from memory.journal import Intent, Journal

    append = Journal.append

    def append_and_die(self: Journal, intent: Intent) -> None:
        append(self, intent)
        try:
            marker.touch(exist_ok=False)
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    Journal.append = append_and_die  # type: ignore[method-assign]  # the fault
    return server.serve(load_settings(), load_model_settings())


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
