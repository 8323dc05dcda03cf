"""As much of HTTP/1.1 as a fake chat service needs."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Request:
    """A request, its target as it was written: with a host when it came to a proxy."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Refusal(Exception):
    """An answer that is an error."""

    status: int
    description: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def to_wire(self):
        told = {"ok": False, "error_code": self.status, "description": self.description}
        return told | ({"parameters": self.parameters} if self.parameters else {})


async def read_request(reader):
    """The next request of a connection; None when there is no more."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return Request(method, target, headers, body)


async def answer(writer, status, content):
    """Answer with JSON, or with bytes as they are."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
