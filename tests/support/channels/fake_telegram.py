"""A Bot API on loopback: real HTTP on the test's own event loop, with faults to be switched on."""

import asyncio
from collections import defaultdict, deque
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from channels.splitting import utf16_units
from tests.support.channels.facts import Facts
from tests.support.channels.http_wire import Refusal, Request, answer, read_request

TOKEN = "4711:AAsecret-token"
BOT = {"id": 4711, "is_bot": True, "first_name": "Lane", "username": "LaneBot"}
MAX_UNITS = 4096
KNOWN_TAGS = {"b", "i", "s", "u", "code", "pre", "a", "blockquote"}

HANG = "hang"
RESET = "reset"


def refusal(status, description, **parameters):
    """What Telegram answers instead; its parameters such as ``retry_after``."""
    return Refusal(status, description, parameters)


@dataclass
class Call:
    """A method that was called.

    Attributes:
        is_proxied: whether the request came as to a proxy.
    """

    method: str
    fields: dict[str, Any]
    is_proxied: bool


@dataclass
class Sent:
    """A message as people see it."""

    chat_id: str
    text: str
    thread_id: str | None
    parse_mode: str | None


@dataclass
class FakeTelegram:
    """What a test knows of the running server.

    Attributes:
        faults: by method, what to do instead of answering, each used once.
        topics: by chat, the threads that there are; other chats have whatever is asked for.
        files: content by file id.
    """

    facts: Facts
    url: str = ""
    calls: list[Call] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    faults: dict[str, deque[Any]] = field(default_factory=lambda: defaultdict(deque))
    topics: dict[str, set[str]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    updates: list[dict[str, Any]] = field(default_factory=list)
    open_polls: int = 0
    most_polls_at_once: int = 0
    is_token_known: bool = True
    _next_id: int = 100
    _empty_answers: int = 0
    _tasks: set[Any] = field(default_factory=set)

    def write(self, text=None, **facts):
        """Have somebody write a message; returns its update's id."""
        self._next_id += 1
        message = {
            "message_id": self._next_id,
            "date": 1_700_000_000,
            "chat": {"id": 7, "type": "private", "first_name": "Ann"},
            "from": {"id": 7, "is_bot": False, "first_name": "Ann"},
        }
        message |= {"text": text} if text is not None else {}
        return self.tell({"message": message | facts})

    def tell(self, update):
        """Have anything happen; returns its update's id."""
        self._next_id += 1
        self.updates.append({"update_id": self._next_id, **update})
        self.facts.changed()
        return self._next_id

    def fail(self, method, *faults):
        """Answer the next calls of a method otherwise."""
        self.faults[method].extend(faults)

    def replace(self, method, body):
        """Answer the next call of a method with these bytes."""
        self.faults[method].append(body)

    def end_poll(self):
        """Let a poll return without updates."""
        self._empty_answers += 1
        self.facts.changed()

    def called(self, method):
        """The fields of each call of a method so far."""
        return [call.fields for call in self.calls if call.method == method]

    @property
    def texts(self):
        return [one.text for one in self.sent]

    async def serve(self, reader, writer):
        """Answer one connection's requests."""
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            while (request := await read_request(reader)) is not None:
                if not await self._respond(request, reader, writer):
                    break
        except asyncio.CancelledError:
            writer.transport.abort()  # a test's end, of which streams would complain
        finally:
            self._tasks.discard(task)
            writer.close()
            self.facts.changed()

    async def close(self):
        for task in set(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    async def _respond(self, request: Request, reader, writer):
        """Whether the connection goes on."""
        target = urlsplit(request.target)
        path = unquote(target.path)
        method = path.rpartition("/")[2] if path.startswith("/bot") else "file"
        fields = dict(parse_qsl(request.body.decode(), keep_blank_values=True))
        self.calls.append(Call(method, fields, bool(target.netloc)))
        self.facts.changed()
        fault = self.faults[method].popleft() if self.faults[method] else None
        if fault == HANG:
            await reader.read(1)  # until the client gives up
            return False
        if fault == RESET:
            writer.transport.abort()
            return False
        if isinstance(fault, bytes):
            await answer(writer, 200, fault)
            return True
        try:
            if fault is not None:
                raise fault
            if method == "file":
                await answer(writer, 200, self._file(path))
            else:
                result = await self._result(path, method, fields, reader)
                await answer(writer, 200, {"ok": True, "result": result})
        except Refusal as refused:
            await answer(writer, refused.status, refused.to_wire())
        except ConnectionError:
            return False
        self.facts.changed()
        return True

    async def _result(self, path, method, fields, reader):
        if path != f"/bot{TOKEN}/{method}" or not self.is_token_known:
            raise refusal(401, "Unauthorized")
        match method:
            case "getMe":
                return BOT
            case "getUpdates":
                return await self._poll(fields, reader)
            case "sendMessage":
                return self._send(fields)
            case "getFile":
                return self._path_of(fields["file_id"])
            case "deleteWebhook" | "setMyCommands" | "sendChatAction":
                return True
        raise refusal(404, "Not Found")

    async def _poll(self, fields, reader):
        if self.open_polls:
            self.most_polls_at_once = 2
            raise refusal(409, "Conflict: terminated by other getUpdates request")
        offset = int(fields.get("offset", 0))
        self.updates = [one for one in self.updates if one["update_id"] >= offset]
        self.open_polls += 1
        self.most_polls_at_once = max(1, self.most_polls_at_once)
        self.facts.changed()
        left = asyncio.create_task(reader.read(1))
        left.add_done_callback(lambda _: self.facts.changed())
        try:
            await self.facts.until(lambda: self.updates or self._empty_answers or left.done())
            if left.done():
                raise ConnectionResetError
            self._empty_answers = max(0, self._empty_answers - 1) if not self.updates else self._empty_answers
            return self.updates[:100]
        finally:
            self.open_polls -= 1
            left.cancel()
            with suppress(asyncio.CancelledError):
                await left

    def _send(self, fields):
        chat_id, thread_id = fields["chat_id"], fields.get("message_thread_id")
        if thread_id is not None and thread_id not in self.topics.get(chat_id, {thread_id} - {"1"}):
            raise refusal(400, "Bad Request: message thread not found")
        text, parse_mode = fields.get("text", ""), fields.get("parse_mode")
        shown = Shown(text).text if parse_mode == "HTML" else text
        if not shown.strip():
            raise refusal(400, "Bad Request: message text is empty")
        if utf16_units(shown) > MAX_UNITS:
            raise refusal(400, "Bad Request: message is too long")
        self.sent.append(Sent(chat_id, shown, thread_id, parse_mode))
        chat = {"id": int(chat_id), "type": "private"}
        return {"message_id": len(self.sent), "date": 1_700_000_000, "chat": chat, "text": shown}

    def _path_of(self, file_id):
        if file_id not in self.files:
            raise refusal(400, "Bad Request: invalid file_id")
        size = len(self.files[file_id])
        return {
            "file_id": file_id,
            "file_unique_id": file_id,
            "file_size": size,
            "file_path": f"docs/{file_id}",
        }

    def _file(self, path):
        *folder, file_id = path.split("/")
        if folder != ["", "file", f"bot{TOKEN}", "docs"] or file_id not in self.files:
            raise refusal(404, "Not Found")
        return self.files[file_id]


class Shown(HTMLParser):
    """What people see of HTML; refuses what Telegram refuses."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        if self._open:
            raise refusal(400, f"Bad Request: can't parse entities: no end of {self._open[-1]}")

    def handle_starttag(self, tag, attrs):
        if tag not in KNOWN_TAGS or (tag == "blockquote" and tag in self._open):
            raise refusal(400, f"Bad Request: can't parse entities: Unsupported start tag {tag!r}")
        self._open.append(tag)

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            raise refusal(400, "Bad Request: can't parse entities: unexpected end tag")

    def handle_data(self, data):
        self.text += data


@asynccontextmanager
async def fake_telegram(facts=None):
    """A Bot API that is gone afterwards."""
    fake = FakeTelegram(facts or Facts())
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        server.close()
        await fake.close()
        await server.wait_closed()
