"""The listening socket of the web part, made by the supervisor so that it outlives a crash of the web."""

import errno
import ipaddress
import socket

from core.errors import ConfigError

_BACKLOG = 1024


def bind(host: str, port: int) -> socket.socket:
    """Listen on an address; port 0 picks a free one.

    Raises:
        ConfigError: the port is in use or not allowed, or the host is not one of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ConfigError(f"host {host!r} has no address: {error.strerror}") from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(_complaint(error, host, port)) from None
    return listener


def port_of(listener: socket.socket) -> int:
    """The port that a socket listens on."""
    port: int = listener.getsockname()[1]
    return port


def base_url(listener: socket.socket) -> str:
    """URL for clients on this machine."""
    address = ipaddress.ip_address(listener.getsockname()[0])
    if address.is_unspecified:
        address = ipaddress.ip_address("::1" if address.version == 6 else "127.0.0.1")
    host = f"[{address}]" if address.version == 6 else str(address)
    return f"http://{host}:{port_of(listener)}"


def is_exposed(listener: socket.socket) -> bool:
    """Whether other machines can connect."""
    return not ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def _complaint(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is in use; choose another with --port, or 0 for a free one"
    return f"can't listen on {host} port {port}: {error.strerror}"
