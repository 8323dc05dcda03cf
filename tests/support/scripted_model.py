"""A model server for tests: real HTTP on loopback, OpenAI chat completions, answers by script."""

import json
import select
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Answer = Callable[["_Handler", Body], None]
Script = Iterable[Answer] | Callable[[Body], Answer]

MODEL_NAME = "scripted-1"
KEY = "sk-test-key"
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@dataclass
class ScriptedModel:
    """What a test knows of the running server."""

    base_url: str
    requests: list[Body] = field(default_factory=list)
    requested: threading.Event = field(default_factory=threading.Event)
    cut: threading.Event = field(default_factory=threading.Event)  # a client left before the answer's end
    released: threading.Event = field(default_factory=threading.Event)  # lets hanging answers end

    @property
    def settings(self) -> dict[str, str]:
        """Environment of a process that is to use this model."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": MODEL_NAME}

    def texts(self, number: int = 0) -> dict[str, str]:
        """Content of the messages of one request by role; the last one of each role."""
        return {message["role"]: message["content"] for message in self.requests[number]["messages"]}

    def tool_results(self, number: int) -> list[str]:
        """Content of the tool messages of one request."""
        return [one["content"] for one in self.requests[number]["messages"] if one["role"] == "tool"]

    def tool_names(self, number: int = 0) -> list[str]:
        """Names of the tools offered in one request."""
        return [tool["function"]["name"] for tool in self.requests[number]["tools"]]


@contextmanager
def scripted_model(script: Script) -> Iterator[ScriptedModel]:
    """Serve the script; a request past its end gets a plain "Done."."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.model = ScriptedModel(f"http://127.0.0.1:{server.server_address[1]}/v1")
    server.answers = script if callable(script) else iter(script)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.model
    finally:
        server.model.released.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def calls(*wanted: tuple[str, Body | str], text: str = "", streamed: bool = True) -> Answer:
    """Answer with tool calls; arguments as text are sent as they are, parsable or not."""
    made = [
        {
            "index": number,
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for number, (name, given) in enumerate(wanted)
    ]
    return _completion(text, made, streamed=streamed)


def says(text: str, *, streamed: bool = True) -> Answer:
    """Answer with text only."""
    return _completion(text, [], streamed=streamed)


def status(code: int, *, headers: dict[str, str] | None = None) -> Answer:
    """Answer with an HTTP error whose body quotes a key, as real servers do."""
    body = json.dumps({"error": {"message": "Incorrect API key provided: sk-leaked", "type": "error"}})
    return lambda handler, _request: handler.send_whole(
        code, body, {"content-type": "application/json"} | (headers or {})
    )


def raw(body: str, *, content_type: str) -> Answer:
    """Answer 200 with anything."""
    return lambda handler, _request: handler.send_whole(200, body, {"content-type": content_type})


def endless() -> Answer:
    """Stream keep-alive comments and empty deltas until the client leaves."""

    def answer(handler: "_Handler", _request: Body) -> None:
        handler.start_stream()
        model = handler.server.model
        while not model.released.wait(0.02):
            try:
                handler.send_chunk(b": still here\n\n")
                handler.send_event({"choices": [{"index": 0, "delta": {"content": ""}}]})
            except OSError:
                model.cut.set()
                return

    return answer


def silent() -> Answer:
    """Take the request and say nothing until the client leaves or the test ends."""

    def answer(handler: "_Handler", _request: Body) -> None:
        model = handler.server.model
        handler.close_connection = True
        while not model.released.wait(0.02):
            if select.select([handler.connection], [], [], 0)[0]:  # no request follows, so it is the end
                model.cut.set()
                return

    return answer


def hang_up() -> Answer:
    """Close the connection without an answer."""

    def answer(handler: "_Handler", _request: Body) -> None:
        handler.close_connection = True

    return answer


def break_off() -> Answer:
    """Announce more bytes than are sent, then close."""

    def answer(handler: "_Handler", _request: Body) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b"{")
        handler.close_connection = True

    return answer


def document(kind: str = "user", name: str = "Short answers", body: str = "Prefers short answers.") -> str:
    """A well-formed memory document."""
    return f"---\ntype: {kind}\nname: {name}\ndescription: {name}\n---\n\n{body}\n"


def _completion(text: str, tool_calls: list[Body], *, streamed: bool) -> Answer:
    def answer(handler: "_Handler", request: Body) -> None:
        if streamed and request.get("stream"):
            handler.stream_completion(text, tool_calls)
        else:
            message = {"role": "assistant", "content": text or None, "tool_calls": tool_calls or None}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            whole = {"id": "one", "object": "chat.completion", "choices": [choice], "usage": USAGE}
            handler.send_whole(200, json.dumps(whole), {"content-type": "application/json"})

    return answer


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ScriptedModel
    answers: Iterator[Answer] | Callable[[Body], Answer]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left in mid-answer is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body["_path"] = self.path
        body["_client"] = self.client_address
        body["_authorization"] = self.headers.get("authorization")
        self.server.model.requests.append(body)
        self.server.model.requested.set()
        answers = self.server.answers
        answer = answers(body) if callable(answers) else next(answers, says("Done."))
        answer(self, body)

    def send_whole(self, code: int, body: str, headers: dict[str, str]) -> None:
        encoded = body.encode()
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def stream_completion(self, text: str, tool_calls: list[Body]) -> None:
        self.start_stream()
        for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
            self._send_delta({"role": "assistant", "content": piece})
        for call in tool_calls:
            arguments = call["function"]["arguments"]
            first = call | {"function": {"name": call["function"]["name"], "arguments": arguments[:7]}}
            self._send_delta({"tool_calls": [first]})
            rest = {"index": call["index"], "function": {"arguments": arguments[7:]}}
            self._send_delta({"tool_calls": [rest]})
        self._send_delta({}, finish_reason="tool_calls" if tool_calls else "stop")
        self.send_event({"choices": [], "usage": USAGE})
        self.send_chunk(b"data: [DONE]\n\n")
        self.send_chunk(b"")

    def _send_delta(self, delta: Body, *, finish_reason: str | None = None) -> None:
        self.send_event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})

    def start_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def send_event(self, event: Body) -> None:
        whole = {"id": "one", "object": "chat.completion.chunk", "created": 0, "model": MODEL_NAME} | event
        self.send_chunk(f"data: {json.dumps(whole)}\n\n".encode())

    def send_chunk(self, chunk: bytes) -> None:
        self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        self.wfile.flush()

    def log_message(self, *args: Any) -> None:
        """Keep the test's output quiet."""
