"""An agent child that misbehaves on request: a real process speaking ACP, standard library only.

Run as a script it is the child; imported it offers the command that starts one. Every process appends
its id and its process group's to ``started`` in its working directory. If there is a named pipe ``taken``
there, the child writes to it when it takes a remember call.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

ABSENT = 4_000_000
STARTED = "started"
GRANDCHILD = "grandchild"
REMEMBER = "qwen/control/workspace/memory/remember"
AVAILABILITY = f"{REMEMBER}/availability"
RESOLVE = "memlane/memory/resolve"
UNDO = "memlane/memory/undo"
SNAPSHOT = "memlane/memory/snapshot"
RECORD = "memlane/memory/record"
PING = "qwen/status/channel/ping"
LONG_SUMMARY_CHARS = 1000


def command(behaviour: str, *, first_only: Path | None = None) -> list[str]:
    """The command of a child with this behaviour.

    Args:
        first_only: a file that doesn't exist; the process that creates it misbehaves, later ones are well.
    """
    marker = [] if first_only is None else [str(first_only)]
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), behaviour, *marker]


def pids(workspace: Path) -> list[int]:
    """Process ids of all children started in this workspace so far, oldest first."""
    return [pid for pid, _ in _started(workspace)]


def leaders(workspace: Path) -> list[int]:
    """Ids of these children's process groups, which are their guards' process ids."""
    return [group for _, group in _started(workspace)]


def send(body: object) -> None:
    write(json.dumps(body).encode() + b"\n")


def write(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def answer(message_id: object, result: object) -> None:
    send({"jsonrpc": "2.0", "id": message_id, "result": result})


def refuse(message_id: object, kind: str) -> None:
    send({"jsonrpc": "2.0", "id": message_id, "error": {"code": -32099, "data": {"errorKind": kind}}})


def remembered(params: dict[str, Any]) -> dict[str, Any]:
    """A good result that tells the test what arrived."""
    seen = {"params": params, "cwd": os.getcwd(), "environment": sorted(os.environ)}  # noqa: PTH109 - pathlib has no better one
    return {"summary": json.dumps(seen), "filesTouched": ["/m/a.md"], "touchedScopes": ["user"]}


def start_grandchild(*, own_session: bool = False) -> subprocess.Popen[bytes]:
    """Start a process that sleeps for ever, and tell its id in the file ``grandchild``."""
    sleeper = "import signal\nwhile True: signal.pause()"
    grandchild = subprocess.Popen([sys.executable, "-I", "-S", "-c", sleeper], start_new_session=own_session)
    Path(GRANDCHILD).write_text(str(grandchild.pid))
    return grandchild


def sleep_for_ever() -> None:
    while True:
        signal.pause()


class Child:
    """A well-behaved child of ours; the others differ in single methods."""

    capabilities: ClassVar[dict[str, Any]] = {"_meta": {"memlane": {"v": 1}}}

    def starts(self) -> None:
        """Called before anything is read."""

    def initialize(self, message_id: object, _params: dict[str, Any]) -> None:
        info = {"name": "fake", "version": "0"}
        result = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": self.capabilities}
        answer(message_id, result)

    def ping(self, message_id: object, params: dict[str, Any]) -> None:
        answer(message_id, params)

    def available(self, message_id: object, _params: dict[str, Any]) -> None:
        answer(message_id, {"available": True})

    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        answer(message_id, remembered(params))

    def resolve(self, message_id: object, params: dict[str, Any]) -> None:
        answer(message_id, {"result": {"asked": params}})

    def undo(self, message_id: object, params: dict[str, Any]) -> None:
        answer(message_id, {"summary": f"Took {params['revision']} back.", "touchedScopes": ["user"]})

    def snapshot(self, message_id: object, params: dict[str, Any]) -> None:
        answer(message_id, {})

    def record(self, message_id: object, params: dict[str, Any]) -> None:
        answer(message_id, params["result"])

    def input_ends(self) -> None:
        """Called when stdin has ended."""


class Foreign(Child):
    capabilities: ClassVar[dict[str, Any]] = {"loadSession": True}

    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        answer(message_id, remembered(params) | {"usage": "much"})


class Costly(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        answer(message_id, remembered(params) | {"usage": {"inputTokens": 3, "modelCalls": 1}})


class ExitsAtStart(Child):
    def starts(self) -> None:
        sys.stderr.write("no model, no work\n")
        sys.stderr.flush()
        os._exit(3)


class HangsAtStart(Child):
    def initialize(self, message_id: object, _params: dict[str, Any]) -> None:
        pass


class RefusesStart(Child):
    def initialize(self, message_id: object, _params: dict[str, Any]) -> None:
        send({"jsonrpc": "2.0", "id": message_id, "error": {"code": -32603, "message": "no"}})


class SpeaksVersionTwo(Child):
    def initialize(self, message_id: object, _params: dict[str, Any]) -> None:
        answer(message_id, {"protocolVersion": 2})


class MumblesAtStart(Child):
    def initialize(self, message_id: object, _params: dict[str, Any]) -> None:
        answer(message_id, ["hello"])


class ExitsInCall(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        os._exit(7)


class ExitsAfterAnswer(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        super().remember(message_id, params)
        os._exit(0)


class HangsInCall(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        pass


class ForeignHangsInCall(HangsInCall):
    capabilities: ClassVar[dict[str, Any]] = {}


class SignalsItself(Child):
    """The content of a remember call is the number of the signal that the child sends itself."""

    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        os.kill(os.getpid(), int(params["content"]))


class Deaf(Child):
    """Answers nothing once it has taken a remember call."""

    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        sleep_for_ever()


class Stubborn(Child):
    def starts(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def input_ends(self) -> None:
        sleep_for_ever()


class ToughFamily(Stubborn):
    """It and its own child end by SIGKILL only, and keep no descriptor that they were given but the pipes."""

    def starts(self) -> None:
        super().starts()
        os.closerange(3, 256)
        start_grandchild()

    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        sleep_for_ever()


class NeedsTerm(Child):
    def input_ends(self) -> None:
        sleep_for_ever()


class FloodsStderr(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        sys.stderr.buffer.write(b"y" * 1_000_000 + b"\n\x1b[31mred\x07\n")
        sys.stderr.flush()
        super().remember(message_id, params)


class SaysJunk(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        write(b"hello\n123\nnull\n[]\n{}\n\n\xff\xfe\n")
        super().remember(message_id, params)


class SaysInvalidUtf8(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"summary":"a\xffb",' % int(str(message_id)))
        write(b'"filesTouched":[],"touchedScopes":[]}}\n')


class EndsInFrame(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        write(b'{"jsonrpc":"2.0","id":%d,"resu' % int(str(message_id)))
        os._exit(0)


class AnswersTwice(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        super().remember(message_id, params)
        answer(message_id, {"summary": "again", "filesTouched": [], "touchedScopes": []})


class AnswersUnasked(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        answer(ABSENT, {})
        answer("one", {})
        send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "what?"}})
        send({"jsonrpc": "2.0", "method": "memlane/progress", "params": {}})
        super().remember(message_id, params)


class AnswersAsTold(Child):
    """The content of a remember call is the rest of the answer, as JSON."""

    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        send({"jsonrpc": "2.0", "id": message_id} | json.loads(params["content"]))


class ForeignAsTold(AnswersAsTold):
    capabilities: ClassVar[dict[str, Any]] = {}


class SendsHugeFrame(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        write(b"x" * 300_000)


class HasGrandchild(Child):
    """Dies in mid-call; a process that it started holds its pipes."""

    own_session = False

    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        start_grandchild(own_session=self.own_session)
        os._exit(7)


class HasEscapedGrandchild(HasGrandchild):
    own_session = True


class ClosesStdout(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        os.close(1)
        sleep_for_ever()


class Asks(Child):
    """Calls the client back and reports what it got."""

    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        send({"jsonrpc": "2.0", "id": "mine", "method": "fs/read_text_file", "params": {}})
        reply = json.loads(sys.stdin.buffer.readline())
        summary = json.dumps(reply)
        answer(message_id, {"summary": summary, "filesTouched": [], "touchedScopes": []})


class AsksWithoutReading(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": {}})
        write(f"{line}\n".encode() * 20_000)
        sleep_for_ever()


class ClosesStdin(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        os.close(0)
        super().remember(message_id, params)
        sleep_for_ever()


class Unavailable(Child):
    def available(self, message_id: object, _params: dict[str, Any]) -> None:
        answer(message_id, {"available": False})


class VaguelyAvailable(Child):
    def available(self, message_id: object, _params: dict[str, Any]) -> None:
        answer(message_id, {"available": "perhaps"})


class HasSeenTheTask(Child):
    """Knows the result of whatever task a foreign child is about to do."""

    def snapshot(self, message_id: object, params: dict[str, Any]) -> None:
        known = {"summary": "Done before.", "filesTouched": [], "touchedScopes": [], "revision": "r3"}
        answer(message_id, {"result": known})


class RefusesRecords(Child):
    def record(self, message_id: object, params: dict[str, Any]) -> None:
        refuse(message_id, "store_busy")


class HangsInResolve(Child):
    def resolve(self, message_id: object, params: dict[str, Any]) -> None:
        pass


def behaviours(kind: type[Child] = Child) -> dict[str, type[Child]]:
    """All kinds of child by name."""
    named = {kind.__name__: kind}
    for special in kind.__subclasses__():
        named |= behaviours(special)
    return named


def main() -> None:
    with Path(STARTED).open("a") as listing:
        listing.write(f"{os.getpid()} {os.getpgrp()}\n")
    child = behaviours()[_behaviour()]()
    child.starts()
    methods = {
        "initialize": child.initialize,
        PING: child.ping,
        AVAILABILITY: child.available,
        REMEMBER: child.remember,
        RESOLVE: child.resolve,
        UNDO: child.undo,
        SNAPSHOT: child.snapshot,
        RECORD: child.record,
    }
    while line := sys.stdin.buffer.readline():
        body = json.loads(line)
        if body["method"] == REMEMBER and Path("taken").is_fifo():
            Path("taken").write_text("taken")
        methods[body["method"]](body["id"], body["params"])
    child.input_ends()


def _started(workspace: Path) -> list[tuple[int, int]]:
    lines = (workspace / STARTED).read_text().splitlines()
    return [(int(pid), int(group)) for pid, group in map(str.split, lines)]


def _behaviour() -> str:
    if len(sys.argv) <= 2:
        return sys.argv[1]
    try:
        Path(sys.argv[2]).touch(exist_ok=False)
    except FileExistsError:
        return "Child"
    return sys.argv[1]


if __name__ == "__main__":
    main()
