"""What is refused, bounded or kept open below the application."""

import json

import pytest

from core.acp import MAX_BODY_BYTES
from tests.support.web_server import WebServer

REMEMBER = "POST /workspace/memory/remember HTTP/1.1"
HEALTH = "GET /health HTTP/1.1"


def head(web: WebServer, line: str, *headers: str, token: str = "T") -> bytes:
    fixed = [
        f"Host: localhost:{web.port}",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
    ]
    return "\r\n".join([line, *fixed, *headers, "", ""]).encode()


def answers(raw: bytes) -> list[tuple[int, dict[str, object]]]:
    """Each answer's status and JSON body."""
    found = []
    while raw:
        start, _, rest = raw.partition(b"\r\n\r\n")
        lines = start.decode("latin-1").split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:])
        size = int(fields["content-length"])
        found.append((int(lines[0].split()[1]), json.loads(rest[:size])))
        raw = rest[size:]
    return found


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"nonsense\r\n\r\n", 400, "invalid_request"),
        (b"GET /health HTTP/9.9\r\n\r\n", 400, "invalid_request"),
        (b"GET /\xc3\xa4 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request"),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", 414, "uri_too_long"),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 9000 + b"\r\n\r\n", 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\nExpect: more\r\n\r\n", 417, "expectation_failed"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: zip\r\n\r\n", 501, "unsupported_transfer_coding"),
    ],
)
def test_what_is_no_http_is_refused_in_json(web: WebServer, sent: bytes, status: int, code: str) -> None:
    ((got, body),) = answers(web.exchange(sent))

    assert (got, body["code"]) == (status, code)


def test_a_connection_serves_many_requests(web: WebServer) -> None:
    requests = head(web, HEALTH) + head(web, HEALTH, "Connection: close")

    assert [status for status, _ in answers(web.exchange(requests))] == [200, 200]


def test_the_body_of_a_refused_request_is_not_taken_for_the_next_request(web: WebServer) -> None:
    hidden = head(web, HEALTH)
    requests = head(web, REMEMBER, f"Content-Length: {len(hidden)}", token="nope") + hidden
    requests += head(web, HEALTH, "Connection: close")

    assert [status for status, _ in answers(web.exchange(requests))] == [401, 200]


def test_a_chunked_body_is_read(web: WebServer) -> None:
    body = b'e\r\n{"content":""}\r\n0\r\n\r\n'
    request = head(web, REMEMBER, "Transfer-Encoding: chunked", "Connection: close") + body

    ((status, problem),) = answers(web.exchange(request))

    assert (status, problem["code"]) == (400, "invalid_content")


def test_a_broken_chunk_is_answered_once_and_closes_the_connection(web: WebServer) -> None:
    request = head(web, REMEMBER, "Transfer-Encoding: chunked") + b"zz\r\n{}\r\n" + head(web, HEALTH)

    ((status, problem),) = answers(web.exchange(request))

    assert (status, problem["code"]) == (400, "invalid_request")


def test_a_body_over_the_limit_is_refused_before_it_is_sent(web: WebServer) -> None:
    with web.connect() as peer:
        peer.sendall(head(web, REMEMBER, f"Content-Length: {MAX_BODY_BYTES + 1}"))

        assert peer.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_sender_of_an_endless_body_is_cut_off(web: WebServer) -> None:
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    sent = 0
    with web.connect() as peer:
        peer.sendall(head(web, REMEMBER, "Transfer-Encoding: chunked", token="nope"))
        try:
            while sent < 200:
                peer.sendall(chunk)
                sent += 1
        except (BrokenPipeError, ConnectionResetError):
            pass

    assert sent < 200
