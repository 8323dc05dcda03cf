"""A foreign agent child: it writes to the user's memory by itself, and then does as it is told.

The content of a remember call is what to do and the name of a document: ``save`` it and answer, ``fail`` or
``die`` once it is written, or ``hold`` it until there is a file ``release`` in the workspace. Each call gets
a line in the file ``asked`` there. Standard library only.
"""

import json
import os
import shlex
import sys
import threading
from pathlib import Path
from typing import Any

REMEMBER = "qwen/control/workspace/memory/remember"
GREETING = {"protocolVersion": 1, "agentCapabilities": {}}
LOOK_S = 0.01


def command() -> str:
    """Value of MEMLANE_AGENT_COMMAND that starts such children."""
    return shlex.join([sys.executable, "-I", "-S", str(Path(__file__).resolve())])


def text_of(name: str) -> str:
    """The document that is written under a name."""
    return f"---\ntype: user\nname: {name}\ndescription: {name}\n---\n\nLikes {name}.\n"


def path_of(base: Path, name: str) -> Path:
    """Where it is written."""
    return base / "memories" / "user" / f"{name}.md"


def remember(content: str) -> dict[str, Any]:
    what, _, name = content.partition(" ")
    with Path("asked").open("a") as asked:
        asked.write(content + "\n")
    path = path_of(Path(os.environ["QWEN_CODE_MEMORY_BASE_DIR"]), name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(name))
    if what == "die":
        os._exit(7)
    never = threading.Event()
    while what == "hold" and not Path("release").exists():
        never.wait(LOOK_S)
    if what == "fail":
        return {"error": {"code": -32099, "data": {"errorKind": "ERR_OF_ITS_OWN"}}}
    return {"result": {"summary": f"Saved {name}.", "filesTouched": [str(path)], "touchedScopes": ["user"]}}


def main() -> None:
    while line := sys.stdin.readline():
        request = json.loads(line)
        if request["method"] == REMEMBER:
            answer = remember(request["params"]["content"])
        else:
            answer = {"result": GREETING if request["method"] == "initialize" else request["params"]}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"]} | answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
