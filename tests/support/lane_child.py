"""An agent child that costs next to nothing: it takes its time and touches no file.

The content of a task is how long it takes, in milliseconds. Standard library only.
"""

import json
import shlex
import sys
import threading
from pathlib import Path
from typing import Any

DONE = {"summary": "Nothing to do.", "filesTouched": [], "touchedScopes": []}
GREETING = {"protocolVersion": 1, "agentCapabilities": {"_meta": {"memlane": {"v": 1}}}}
REMEMBER = "qwen/control/workspace/memory/remember"


def command() -> str:
    """Value of MEMLANE_AGENT_COMMAND that starts such children."""
    return shlex.join([sys.executable, "-I", "-S", str(Path(__file__).resolve())])


def main() -> None:
    lock = threading.Lock()

    def answer(request: dict[str, Any], result: object) -> None:
        line = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n"
        with lock:
            sys.stdout.write(line)
            sys.stdout.flush()

    while line := sys.stdin.readline():
        request = json.loads(line)
        if request["method"] == REMEMBER:
            delay_s = int(request["params"]["content"]) / 1000
            threading.Timer(delay_s, answer, (request, DONE)).start()
        else:
            answer(request, GREETING if request["method"] == "initialize" else request["params"])


if __name__ == "__main__":
    main()
