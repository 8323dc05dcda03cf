"""Fake agent children that say what they should not, or too much of it."""

import json
import sys
from typing import Any, ClassVar

from tests.support.fake_child import ABSENT, Child, answer, send, sleep_for_ever, write


class FloodsStderr(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        sys.stderr.buffer.write(b"y" * 1_000_000 + b"\n\x1b[31mred\x07\n")
        sys.stderr.flush()
        super().remember(message_id, params)


class FloodsStdout(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        for _ in range(100):
            write(b"hello\n" * 1_000 + b"x" * 100_000 + b"\n")
        super().remember(message_id, params)


class TellsProgress(Child):
    """Tells its progress as the content of a remember call says: params, as JSON, and how often."""

    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        told = json.loads(params["content"])
        notice = {"jsonrpc": "2.0", "method": "memlane/progress", "params": told["params"]}
        write((json.dumps(notice) + "\n").encode() * told["times"])
        super().remember(message_id, params)


class ForeignTellsProgress(TellsProgress):
    capabilities: ClassVar[dict[str, Any]] = {}


class SaysJunk(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        write(b"hello\n123\nnull\n[]\n{}\n\n\xff\xfe\n")
        super().remember(message_id, params)


class SaysInvalidUtf8(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"summary":"a\xffb",' % int(str(message_id)))
        write(b'"filesTouched":[],"touchedScopes":[]}}\n')


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


class AnswersInDepth(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        deep = b"[" * 200_000 + b"]" * 200_000
        write(b'{"jsonrpc":"2.0","id":%d,"result":%b}\n' % (int(str(message_id)), deep))


class AnswersInHugeNumbers(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        cost = b'"usage":{"inputTokens":1%b}' % (b"0" * 5_000)
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"summary":"s",%b,' % (int(str(message_id)), cost))
        write(b'"filesTouched":[],"touchedScopes":[]}}\n')


class SendsHugeFrame(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        for _ in range(40):
            write(b"x" * 1_000_000)
        sleep_for_ever()


class Asks(Child):
    """Calls the client back by the method that it is told, and reports what it got."""

    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        send({"jsonrpc": "2.0", "id": "mine", "method": params["content"], "params": {}})
        reply = json.loads(sys.stdin.buffer.readline())
        summary = json.dumps(reply)
        answer(message_id, {"summary": summary, "filesTouched": [], "touchedScopes": []})


class AsksWithoutReading(Child):
    def remember(self, message_id: object, params: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": {}})
        write(f"{line}\n".encode() * 20_000)
        sleep_for_ever()


class VaguelyAvailable(Child):
    def available(self, message_id: object, _params: dict[str, Any]) -> None:
        answer(message_id, {"available": "perhaps"})
