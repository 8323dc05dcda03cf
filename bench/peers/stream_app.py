"""Event streams as one writes them first: each client has a Redis subscription and reads the log for itself.

Served by gunicorn's gevent worker, WebSockets by flask-sock as its page shows.
"""

import os
from collections.abc import Iterator

import redis
from flask import Flask, Response
from flask_sock import Sock
from simple_websocket import Server

from events.envelope import Envelope, from_entry

HEARTBEAT_S = 15

app = Flask(__name__)
app.config["SOCK_SERVER_OPTIONS"] = {"ping_interval": 25}
sock = Sock(app)
client = redis.Redis.from_url(os.environ["BENCH_REDIS_URL"], decode_responses=True, max_connections=10_000)
CHANNEL, STREAM = os.environ["BENCH_CHANNEL"], os.environ["BENCH_STREAM"]


@app.get("/health")
def health() -> dict[str, str]:
    """Say that it is up."""
    return {"status": "ok"}


@app.get("/workspace/events")
def stream() -> Response:
    """Server-sent events."""
    return Response(frames(), content_type="text/event-stream")


@sock.route("/workspace/events/ws")
def converse(ws: Server) -> None:
    """The same over WebSocket."""
    for event in events():
        if event is not None:
            ws.send(event.to_json())


def frames() -> Iterator[bytes]:
    """Frames of an endless stream."""
    yield b"retry: 3000\n\n"
    for event in events():
        if event is None:
            yield b": heartbeat\n\n"
        else:
            yield f"id: {event.id}\nevent: {event.type}\ndata: {event.to_json()}\n\n".encode()


def events() -> Iterator[Envelope | None]:
    """Events from now on; None after a silence."""
    with client.pubsub() as pubsub:
        pubsub.subscribe(CHANNEL)
        newest = client.xrevrange(STREAM, count=1)
        last = newest[0][0] if newest else "0-0"
        while True:
            message = pubsub.get_message(timeout=HEARTBEAT_S)
            if message is None:
                yield None
            for entry_id, fields in client.xrange(STREAM, min=f"({last}"):
                last = entry_id
                yield from_entry(entry_id, fields)
