"""Who may come in: the name the request was sent to, the page it came from, the token it carries."""

import ipaddress
import re
from collections.abc import Iterable
from wsgiref.types import WSGIEnvironment

from web.errors import HostRefused, OriginRefused, Unauthorized
from web.keyring import Keyring
from web.principal import Principal
from web.target import Target

_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]", "host.docker.internal"})
_AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_BEARER = re.compile(r"bearer[ \t]+(?P<token>.*?)[ \t]*", re.IGNORECASE | re.DOTALL)
_VARIABLE = re.compile("<[^>]+>")
_ORIGIN = re.compile(r"https?://(?P<authority>.+)")


class Guard:
    """Decides in the contract's order: Host, then Origin, then bearer token."""

    def __init__(
        self, keyring: Keyring, *, bound_host: str, hosts: Iterable[str] = (), open_paths: Iterable[str] = ()
    ) -> None:
        """Make a guard.

        Args:
            keyring: the tokens that let callers in.
            bound_host: address the service listens on; accepted in ``Host`` with the bound port.
            hosts: further names, accepted with any port, because a proxy in front maps ports.
            open_paths: those that ask for no token, as routes are written. All others do, whether they are
                served or not.
        """
        self._keyring = keyring
        patterns = [_pattern_of(path) for path in open_paths]
        self._open = re.compile("|".join(patterns) or "(?!)")
        self._local = _LOCAL_NAMES | _literal_names(bound_host)
        self._named = frozenset(name.lower() for name in hosts)

    def check(self, environ: WSGIEnvironment, target: Target) -> Principal | None:
        """Let the request pass or say why not; reads no body.

        Returns:
            Who asks; None for an open path.

        Raises:
            HostRefused: ``Host``, or the authority of an absolute target, is not ours.
            OriginRefused: the request comes from a page of another origin.
            Unauthorized: a path that is not open, without a token of ours.
        """
        host = environ.get("HTTP_HOST", "").lower()
        self._check_host(host, target, environ["SERVER_PORT"])
        _check_origin(environ.get("HTTP_ORIGIN"), host)
        if self._open.fullmatch(target.path.removesuffix("/")):
            return None
        return self._find_bearer(environ.get("HTTP_AUTHORIZATION", ""))

    def still_admits(self, authorization: str, principal: Principal) -> bool:
        """Whether the header that let somebody in would do so now, and for the same."""
        return self._keyring.find(_token_in(authorization)) == principal

    def _check_host(self, host: str, target: Target, bound_port: str) -> None:
        authorities = [host] if target.authority is None else [host, target.authority.lower()]
        if not all(self._is_ours(authority, bound_port) for authority in authorities):
            raise HostRefused

    def _is_ours(self, authority: str, bound_port: str) -> bool:
        match = _AUTHORITY.fullmatch(authority)
        if match is None:
            return False
        if match["name"] in self._named:
            return True
        return match["name"] in self._local and (match["port"] or "80") == bound_port

    def _find_bearer(self, authorization: str) -> Principal:
        principal = self._keyring.find(_token_in(authorization))
        if principal is None:
            raise Unauthorized
        return principal


def _pattern_of(path: str) -> str:
    """What a route's path matches; a variable is one segment, none is no path at all."""
    return "[^/]+".join(re.escape(part) for part in _VARIABLE.split(path))


def _token_in(authorization: str) -> bytes:
    match = _BEARER.fullmatch(authorization)
    # latin-1 gives back the bytes as sent (PEP 3333)
    return match["token"].encode("latin-1", "replace") if match else b""


def _check_origin(origin: str | None, host: str) -> None:
    if origin is None:
        return
    match = _ORIGIN.fullmatch(origin.lower())
    if match is None or match["authority"] != host:
        raise OriginRefused


def _literal_names(bound_host: str) -> frozenset[str]:
    try:
        address = ipaddress.ip_address(bound_host)
    except ValueError:
        return frozenset({bound_host.lower()})
    if address.is_unspecified:
        return frozenset()
    return frozenset({f"[{address}]" if address.version == 6 else str(address)})
