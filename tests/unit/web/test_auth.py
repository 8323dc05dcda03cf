from typing import Any

import pytest

from tests.support.keyring import single_token
from web.auth import Guard
from web.errors import HostRefused, OriginRefused, Unauthorized
from web.principal import Principal
from web.target import Target, parse_target

PORT = "4170"
TARGET = parse_target("/capabilities")


def check(
    *, host: str = f"127.0.0.1:{PORT}", target: Target = TARGET, bound: str = "127.0.0.1", **headers: str
) -> Principal | None:
    keyring = single_token("token-ä")
    guard = Guard(
        keyring, bound_host=bound, hosts=("Memory.Example",), open_paths=("/health", "/health/live")
    )
    environ: dict[str, Any] = {"SERVER_PORT": PORT, "HTTP_HOST": host}
    environ |= {f"HTTP_{name.upper()}": value for name, value in headers.items()}
    return guard.check(environ, target)


def sent(text: str) -> str:
    """A header as WSGI hands it over: its bytes as latin-1."""
    return text.encode().decode("latin-1")


TOKEN = sent("Bearer token-ä")


@pytest.mark.parametrize(
    "host",
    [
        f"127.0.0.1:{PORT}",
        f"localhost:{PORT}",
        f"LOCALHOST:{PORT}",
        f"[::1]:{PORT}",
        f"host.docker.internal:{PORT}",
        "memory.example",
        "memory.example:8443",
        "MEMORY.example",
    ],
)
def test_our_names_are_let_in(host: str) -> None:
    check(host=host, authorization=TOKEN)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "localhost",
        "evil.example",
        f"evil.example:{PORT}",
        f"localhost.:{PORT}",
        f"localhost:{PORT}.",
        "127.0.0.1:1",
        f"127.0.0.1:0{PORT}",
        f"127.0.0.2:{PORT}",
        f"[::2]:{PORT}",
        f"[0:0:0:0:0:0:0:1]:{PORT}",
        f"[::ffff:127.0.0.1]:{PORT}",
        f"user@localhost:{PORT}",
        f"localhost:{PORT}:{PORT}",
        f"localhost:{PORT}, localhost:{PORT}",
        f"memory.example.evil.example:{PORT}",
        f"\uff4cocalhost:{PORT}",
    ],
)
def test_other_names_are_refused(host: str) -> None:
    with pytest.raises(HostRefused):
        check(host=host, authorization=TOKEN)


def test_the_port_may_be_left_out_when_it_is_the_default() -> None:
    Guard(single_token("T"), bound_host="127.0.0.1").check(
        {"SERVER_PORT": "80", "HTTP_HOST": "localhost", "HTTP_AUTHORIZATION": "Bearer T"}, TARGET
    )


def test_the_bound_address_is_one_of_our_names() -> None:
    check(host=f"10.0.0.5:{PORT}", bound="10.0.0.5", authorization=TOKEN)
    check(host=f"[fd00::5]:{PORT}", bound="fd00:0::5", authorization=TOKEN)
    check(host=f"box.local:{PORT}", bound="Box.local", authorization=TOKEN)


@pytest.mark.parametrize("wildcard", ["0.0.0.0", "::"])
def test_a_wildcard_is_no_name(wildcard: str) -> None:
    with pytest.raises(HostRefused):
        check(host=f"[{wildcard}]:{PORT}", bound=wildcard, authorization=TOKEN)
    with pytest.raises(HostRefused):
        check(host=f"{wildcard}:{PORT}", bound=wildcard, authorization=TOKEN)


def test_an_absolute_target_must_name_us_too() -> None:
    check(target=parse_target(f"http://localhost:{PORT}/capabilities"), authorization=TOKEN)
    with pytest.raises(HostRefused):
        check(target=parse_target("http://evil.example/capabilities"), authorization=TOKEN)
    with pytest.raises(HostRefused):
        check(target=parse_target("http:///capabilities"), authorization=TOKEN)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "http://127.0.0.1:1",
        "http://127.0.0.1",
        f"http://localhost:{PORT}",
        f"file://127.0.0.1:{PORT}",
        f"http://127.0.0.1:{PORT}/",
    ],
)
def test_foreign_pages_are_refused_before_the_token_is_looked_at(origin: str) -> None:
    with pytest.raises(OriginRefused):
        check(origin=origin)


@pytest.mark.parametrize("scheme", ["http", "https", "HTTP"])
def test_our_own_pages_are_let_in(scheme: str) -> None:
    check(origin=f"{scheme}://127.0.0.1:{PORT}", authorization=TOKEN)


def test_the_host_comes_before_the_origin() -> None:
    with pytest.raises(HostRefused):
        check(host="evil.example", origin="http://evil.example")


@pytest.mark.parametrize("scheme", ["bearer ", "BEARER ", "Bearer   ", "Bearer\t \t"])
def test_the_scheme_may_be_written_in_many_ways(scheme: str) -> None:
    check(authorization=sent(f"{scheme}token-ä"))
    check(authorization=sent(f"{scheme}token-ä \t"))


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic VDpU",
        "token-ä",
        "Bearer nope",
        "Bearer token-ä2",
        "Bearer \ud800",
        "Bearerx",
    ],
)
def test_without_our_token_nobody_gets_in(authorization: str) -> None:
    with pytest.raises(Unauthorized):
        check(authorization=authorization)


def test_the_guard_tells_whose_token_it_was() -> None:
    assert check(authorization=TOKEN) == Principal("default", "operator")


@pytest.mark.parametrize("path", ["/health", "/health/", "/health/live", "/health/live/"])
def test_open_paths_ask_for_no_token_and_have_nobody(path: str) -> None:
    assert check(target=parse_target(path), authorization=TOKEN) is None


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/healthz",
        "/health/ready",
        "/health//",
        "/Health",
        "/health/../capabilities",
        "/%68ealth",
        "//health",
    ],
)
def test_nothing_else_is_open(path: str) -> None:
    with pytest.raises(Unauthorized):
        check(target=parse_target(path))
