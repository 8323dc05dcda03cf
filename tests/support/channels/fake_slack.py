"""A Slack on loopback: Web API, files and Socket Mode, with faults to be switched on."""

import asyncio
import json
from collections import defaultdict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.support.channels.facts import Facts

BOT_TOKEN = "xoxb-secret-bot"
APP_TOKEN = "xapp-secret-app"
BOT = "UBOT"
MAX_CHARACTERS = 40_000

HELLO = {"type": "hello", "num_connections": 1}
HANG = "hang"
RESET = "reset"


@dataclass
class Refused:
    """An answer that is an error; ``error`` None for one that is no JSON."""

    error: str | None
    status: int = 200
    retry_after: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def answer(self):
        headers = {"Retry-After": self.retry_after} if self.retry_after is not None else {}
        if self.error is None:
            return web.Response(text="<h1>Oops</h1>", content_type="text/html", status=self.status)
        body = {"ok": False, "error": self.error} | self.facts
        return web.json_response(body, status=self.status, headers=headers)


@dataclass
class Moved:
    """An answer that sends elsewhere."""

    location: str

    def answer(self):
        return web.Response(status=302, headers={"Location": self.location})


@dataclass
class Post:
    """A message as people see it."""

    chat_id: str
    text: str
    thread_id: str | None


@dataclass
class Delivery:
    """An event on its way to the app, until it is acknowledged."""

    envelope_id: str
    payload: dict[str, Any]
    attempts: int = 0

    def frame(self):
        return {
            "type": "events_api",
            "envelope_id": self.envelope_id,
            "payload": self.payload,
            "retry_attempt": self.attempts,
        }


@dataclass
class FakeSlack:
    """What a test knows of the running server.

    Attributes:
        faults: by method, what to do instead of answering, each used once.
        greets: whether a connection of Socket Mode is greeted.
        greeting: with what.
        pongs: whether pings are answered.
        unacknowledged: events that are sent again over the next connection.
        files: content by path.
    """

    facts: Facts
    url: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    proxied: list[str] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    faults: dict[str, deque[Any]] = field(default_factory=lambda: defaultdict(deque))
    known_bot: str = BOT_TOKEN
    known_app: str = APP_TOKEN
    greets: bool = True
    greeting: dict[str, Any] = field(default_factory=lambda: HELLO)
    pongs: bool = True
    sockets: list[web.WebSocketResponse] = field(default_factory=list)
    connections: int = 0
    pongs_heard: int = 0
    unacknowledged: list[Delivery] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    _count: int = 0
    _transports: dict[Any, Any] = field(default_factory=dict)
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def texts(self):
        return [post.text for post in self.posts]

    def called(self, method):
        """The fields of each call of a method so far."""
        return [fields for name, fields in self.calls if name == method]

    def fail(self, method, *faults):
        """Answer the next calls of a method otherwise."""
        self.faults[method].extend(faults)

    async def write(self, text, *, event_id=None, **facts):
        """Have somebody write a message; returns its event's envelope."""
        self._count += 1
        event = {
            "type": "message",
            "channel": "D1",
            "channel_type": "im",
            "user": "U1",
            "text": text,
            "ts": f"{self._count}.0",
        }
        return await self.tell(event | facts, event_id=event_id)

    async def tell(self, event, *, event_id=None):
        """Have anything happen; returns the id of the envelope in which it is told."""
        self._count += 1
        payload = {
            "type": "event_callback",
            "event_id": event_id or f"Ev{self._count}",
            "event": event,
            "authorizations": [{"user_id": BOT, "is_bot": True}],
        }
        delivery = Delivery(f"envelope-{self._count}", payload)
        self.unacknowledged.append(delivery)
        for socket in self.sockets[-1:]:
            await socket.send_json(delivery.frame())
        return delivery.envelope_id

    async def send(self, frame):
        """Send a frame as it is over the newest connection."""
        await self.sockets[-1].send_str(frame if isinstance(frame, str) else json.dumps(frame))

    async def repeat(self):
        """Send what was not acknowledged once more."""
        for delivery in list(self.unacknowledged):
            delivery.attempts += 1
            await self.sockets[-1].send_json(delivery.frame())

    def forget(self):
        """Send again nothing of what was not acknowledged so far."""
        self.unacknowledged.clear()

    async def answered_ping(self):
        """Wait until the newest connection answers a ping; by then all before it was read."""
        heard = self.pongs_heard
        await self.sockets[-1].ping()
        await self.facts.until(lambda: self.pongs_heard > heard)

    async def drop(self):
        """Break the newest connection."""
        self._transports[self.sockets[-1]].abort()

    async def serve(self, request):
        """Answer a method of the Web API."""
        method = request.match_info["method"]
        fields = dict(await request.post()) if "json" not in request.content_type else await request.json()
        self.calls.append((method, fields))
        if request.host not in self.url:
            self.proxied.append(request.host)
        self.facts.changed()
        broken = await self._broken(method, request)
        if broken is not None:
            return broken
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token != (self.known_app if method == "apps.connections.open" else self.known_bot):
            return web.json_response({"ok": False, "error": "invalid_auth"})
        answer = self._answer(method, fields)
        self.facts.changed()
        return web.json_response({"ok": True} | answer)

    async def give(self, request):
        """Give a file to who shows the bot's token; others are sent to log in."""
        self.calls.append(("file", {"token": request.headers.get("Authorization", "")}))
        self.facts.changed()
        broken = await self._broken("file", request)
        if broken is not None:
            return broken
        if request.headers.get("Authorization") != f"Bearer {BOT_TOKEN}":
            raise web.HTTPFound("/login")
        return web.Response(body=self.files[request.match_info["name"]])

    async def connect(self, request):
        """Serve one connection of Socket Mode."""
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        self.connections += 1
        if self.greets:
            await socket.send_json(self.greeting)
        for delivery in self.unacknowledged if self.greets else ():
            delivery.attempts += 1
            await socket.send_json(delivery.frame())
        self._transports[socket] = request.transport
        self.sockets.append(socket)
        self.facts.changed()
        try:
            async for message in socket:
                await self._hear(message, socket)
        finally:
            self.sockets.remove(socket)
            self.facts.changed()
        return socket

    async def _hear(self, message, socket):
        if message.type is WSMsgType.TEXT:
            self._acknowledge(json.loads(message.data)["envelope_id"])
        elif message.type is WSMsgType.PONG:
            self.pongs_heard += 1
            self.facts.changed()
        elif message.type is WSMsgType.PING and self.pongs:
            await socket.pong(message.data)

    def _acknowledge(self, envelope_id):
        self.acknowledged.append(envelope_id)
        self.unacknowledged = [one for one in self.unacknowledged if one.envelope_id != envelope_id]
        self.facts.changed()

    async def _broken(self, method, request):
        fault = self.faults[method].popleft() if self.faults[method] else None
        if fault == HANG:
            await self._over.wait()
        if fault in (HANG, RESET):
            request.transport.abort()
            return web.Response()
        if isinstance(fault, str):
            return web.Response(text=fault, content_type="application/json")
        return fault.answer() if fault is not None else None

    def _answer(self, method, fields):
        match method:
            case "auth.test":
                return {"user_id": BOT}
            case "apps.connections.open":
                return {"url": f"{self.url.replace('http', 'ws')}/link/?ticket=secret-ticket"}
            case "chat.postMessage":
                self.posts.append(Post(fields["channel"], fields["text"], fields.get("thread_ts")))
                return {"ts": f"9{len(self.posts)}.0", "channel": fields["channel"]}
        return {"ok": False, "error": "unknown_method"}

    async def close(self):
        self._over.set()
        for socket in list(self.sockets):
            await socket.close()


@asynccontextmanager
async def fake_slack(facts=None):
    """A Slack that is gone afterwards."""
    fake = FakeSlack(facts or Facts())
    app = web.Application()
    app.router.add_post("/api/{method}", fake.serve)
    app.router.add_get("/files/{name}", fake.give)
    app.router.add_get("/link/", fake.connect)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield fake
    finally:
        await fake.close()
        await runner.cleanup()
