"""An agent child that misbehaves on request: a real process speaking ACP, standard library only.

Every process appends its id and its process group's to ``started`` in its working directory. If there is a
named pipe ``taken`` there, the child writes to it when it takes a remember or undo call. A remember call
whose content is ``WELL`` is served well by all of them.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).resolve().parents[2]
ABSENT = 4_000_000
WELL = "be well"
STARTED = "started"
GRANDCHILD = "grandchild"
REMEMBER = "qwen/control/workspace/memory/remember"
AVAILABILITY = f"{REMEMBER}/availability"
RESOLVE = "memlane/memory/resolve"
UNDO = "memlane/memory/undo"
CANCEL = "memlane/cancel"
SNAPSHOT = "memlane/memory/snapshot"
RECORD = "memlane/memory/record"
PING = "qwen/status/channel/ping"


def command(behaviour: str, *, first_only: Path | None = None, until: Path | None = None) -> list[str]:
    """The command of a child with this behaviour.

    Args:
        first_only: a file that doesn't exist; the process that creates it misbehaves, later ones are well.
        until: a file; processes that are started once it exists are well.
    """
    markers = [f"{name}={path}" for name, path in (("first", first_only), ("until", until)) if path]
    program = (
        f"import sys; sys.path.append({str(ROOT)!r}); from tests.support.fake_child_run import main; main()"
    )
    return [sys.executable, "-I", "-S", "-c", program, behaviour, *markers]


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

    def cancel(self, message_id: object, _params: dict[str, Any]) -> None:
        answer(message_id, {"cancelling": False})

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


class GivesUp(Child):
    """A remember call waits for its cancel; what it is answered then is its content, as JSON."""

    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        self.waiting = message_id, params

    def cancel(self, message_id: object, params: dict[str, Any]) -> None:
        remember_id, remember_params = self.waiting
        assert params == {"taskId": remember_params["_meta"]["memlane/task"]["taskId"]}
        answer(message_id, {"cancelling": True})
        send({"jsonrpc": "2.0", "id": remember_id} | json.loads(remember_params["content"]))


class IgnoresCancel(HangsInCall):
    def cancel(self, message_id: object, params: dict[str, Any]) -> None:
        pass


class HangsInUndo(IgnoresCancel):
    def undo(self, message_id: object, params: dict[str, Any]) -> None:
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


class StopsItself(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


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


class EndsInFrame(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        write(b'{"jsonrpc":"2.0","id":%d,"resu' % int(str(message_id)))
        os._exit(0)


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


class ClosesStdin(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        os.close(0)
        super().remember(message_id, params)
        sleep_for_ever()


class ClosesStdinInCall(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        os.close(0)
        sleep_for_ever()


class NeverCommitted(Child):
    def resolve(self, message_id: object, params: dict[str, Any]) -> None:
        answer(message_id, {"result": None})


class Unavailable(Child):
    def available(self, message_id: object, _params: dict[str, Any]) -> None:
        answer(message_id, {"available": False})


class HasSeenTheTask(Child):
    """Knows the result of whatever task a foreign child is about to do."""

    def snapshot(self, message_id: object, params: dict[str, Any]) -> None:
        known = {"summary": "Done before.", "filesTouched": [], "touchedScopes": [], "revision": "r3"}
        answer(message_id, {"result": known})


class TellsWhenItLooks(Child):
    """Writes to the pipe ``looked`` before it answers that a foreign child may work on a task."""

    def snapshot(self, message_id: object, params: dict[str, Any]) -> None:
        Path("looked").write_text("looked")
        super().snapshot(message_id, params)


class RefusesRecords(Child):
    def record(self, message_id: object, params: dict[str, Any]) -> None:
        refuse(message_id, "store_busy")


class RefusesOneRecord(Child):
    is_busy = True

    def record(self, message_id: object, params: dict[str, Any]) -> None:
        if self.is_busy:
            self.is_busy = False
            refuse(message_id, "store_busy")
        else:
            super().record(message_id, params)


class HangsInResolve(Child):
    def resolve(self, message_id: object, params: dict[str, Any]) -> None:
        pass


def _started(workspace: Path) -> list[tuple[int, int]]:
    lines = (workspace / STARTED).read_text().splitlines()
    return [(int(pid), int(group)) for pid, group in map(str.split, lines)]
