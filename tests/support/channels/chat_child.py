"""An agent child whose prompts say what it does: a real process speaking ACP, standard library only.

A prompt's text is a JSON list of steps, or plain text, which is answered with ``You said: …``.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def command(*traits: str) -> list[str]:
    """The command of such a child.

    Args:
        traits: ``images``, ``loads`` (sessions), ``modes``, ``mute`` (session/new gives no id), ``same``
            (always the same one), ``shy`` (the first child of a folder opens none).
    """
    begin = f"import sys; sys.path.append({str(ROOT)!r})"
    program = f"{begin}; from tests.support.channels.chat_child import main; main()"
    return [sys.executable, "-I", "-S", "-c", program, *traits]


def send(body):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | body) + "\n")
    sys.stdout.flush()


def update(session, what, **fields):
    told = {"sessionId": session, "update": {"sessionUpdate": what} | fields}
    send({"method": "session/update", "params": told})


class ChatChild:
    def __init__(self, traits):
        self.traits = traits
        self.sessions = 0
        self.asked = 1000
        self.lines = sys.stdin

    def read(self):
        line = self.lines.readline()
        if not line:
            os._exit(0)
        return json.loads(line)

    def serve(self):
        while True:
            body = self.read()
            if "method" in body:
                self.take(body)

    def take(self, body):
        method, params = body["method"], body.get("params")
        if method == "initialize":
            prompts = {"image": "images" in self.traits}
            capabilities = {"loadSession": "loads" in self.traits, "promptCapabilities": prompts}
            send({"id": body["id"], "result": {"protocolVersion": 1, "agentCapabilities": capabilities}})
        elif method == "qwen/status/channel/ping":
            send({"id": body["id"], "result": params})
        elif method == "session/new":
            self.new(body)
        elif method == "session/load":
            self.load(body)
        elif method.startswith("session/set_"):
            with Path("chosen").open("a") as chosen:
                chosen.write(json.dumps([method, params]) + "\n")
            send({"id": body["id"], "result": {}})
        elif method == "session/prompt":
            self.prompt(body)

    def is_too_shy(self):
        first = Path("shy")
        if "shy" in self.traits and not first.exists():
            first.write_text(str(os.getpid()))
            return True
        return False

    def new(self, body):
        if self.is_too_shy():
            return
        self.sessions += 1
        session = "same" if "same" in self.traits else f"{os.getpid()}-{self.sessions}"
        result: dict[str, Any] = {"sessionId": "" if "mute" in self.traits else session}
        if "modes" in self.traits:
            result["modes"] = {"currentModeId": "a", "availableModes": [{"id": "a"}, {"id": "plan"}]}
            result["models"] = {"currentModelId": "m", "availableModels": [{"modelId": "m2"}]}
        send({"id": body["id"], "result": result})
        commands = [{"name": "init", "description": "Begins"}, {"name": 3}, {"name": "end", "description": 4}]
        update(session, "available_commands_update", availableCommands=commands)

    def load(self, body):
        session = body["params"]["sessionId"]
        if session == "lost":
            send({"id": body["id"], "error": {"code": -32002, "message": "not found"}})
            return
        update(session, "agent_message_chunk", content={"type": "text", "text": "said before"})
        send({"id": body["id"], "result": {}})

    def prompt(self, body):
        session, content = body["params"]["sessionId"], body["params"]["prompt"]
        text = content[0]["text"]
        stop = "end_turn"
        try:
            steps = json.loads(text.partition("\n\n")[0])  # without what is said of images
        except ValueError:
            steps = [["say", f"You said: {text}"]]
        for name, *rest in steps:
            if name == "stop":
                stop = rest[0]
            elif name == "fail":
                code, data = (*rest, None)[:2]
                send({"id": body["id"], "error": {"code": code, "message": "no", "data": data}})
                return
            else:
                getattr(self, f"do_{name}")(session, content, *rest)
                if name == "wait":
                    stop = "cancelled"
        send({"id": body["id"], "result": {"stopReason": stop}})
        for name, *rest in steps:
            if name == "afterwards":
                self.do_say(session, content, *rest)

    def do_say(self, session, _content, text):
        update(session, "agent_message_chunk", content={"type": "text", "text": text})

    def do_afterwards(self, session, content, text):
        pass

    def do_think(self, session, _content, text):
        update(session, "agent_thought_chunk", content={"type": "text", "text": text})

    def do_raw(self, _session, _content, params):
        send({"method": "session/update", "params": params})

    def do_tool(self, session, _content, fields):
        update(session, "tool_call", **fields)

    def do_more(self, session, _content, fields):
        update(session, "tool_call_update", **fields)

    def do_show(self, session, content):
        self.do_say(session, content, json.dumps(content))

    def do_sizes(self, session, content):
        self.do_say(session, content, f"{len(content) - 1} images {content[0]['text']}")

    def do_die(self, _session, _content, code):
        os._exit(code)

    def do_hang(self, _session, _content):
        while True:
            self.take_ping()

    def take_ping(self):
        body = self.read()
        if body.get("method") == "qwen/status/channel/ping":
            send({"id": body["id"], "result": body["params"]})
        return body

    def do_wait(self, session, _content):
        while True:
            body = self.take_ping()
            if body.get("method") == "session/cancel" and body["params"]["sessionId"] == session:
                return

    def do_ask(self, session, content, call, options=None):
        self.asked += 1
        params = {"sessionId": session, "toolCall": call, "options": OPTIONS if options is None else options}
        send({"id": self.asked, "method": "session/request_permission", "params": params})
        while True:
            body = self.take_ping()
            if body.get("id") == self.asked and "method" not in body:
                self.do_say(session, content, json.dumps(body.get("result", body.get("error"))))
                return

    def do_request(self, session, content, method):
        self.asked += 1
        send({"id": self.asked, "method": method, "params": {}})
        body = self.read()
        self.do_say(session, content, str(body["error"]["code"]))


def main():
    ChatChild(sys.argv[1:]).serve()
