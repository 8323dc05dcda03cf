"""The request target as it was sent, before anybody decodes it."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote
from wsgiref.types import WSGIEnvironment

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes.

    Attributes:
        path: still percent-encoded, so that an encoded slash stays inside its segment.
        authority: host and port of a target in absolute form (RFC 9112, 3.2.2), else None.
    """

    path: str
    authority: str | None

    @property
    def is_malformed(self) -> bool:
        """Whether the path has a broken escape or escapes something that is not UTF-8."""
        if _BAD_ESCAPE.search(self.path):
            return True
        try:
            unquote(self.path, errors="strict")
        except UnicodeDecodeError:
            return True
        return False


def parse_target(raw: str) -> Target:
    """Take a raw request target apart; query and fragment are dropped."""
    absolute = _ABSOLUTE.fullmatch(raw)
    rest = absolute["rest"] if absolute else raw
    path = re.split("[?#]", rest, maxsplit=1)[0]
    return Target(path or "/", absolute["authority"] if absolute else None)


def read_target(environ: WSGIEnvironment) -> Target:
    """Find the raw target in a WSGI environment; a server that hides it gets its path encoded again."""
    raw = environ.get("RAW_URI") or environ.get("REQUEST_URI")
    return parse_target(raw or quote(environ.get("PATH_INFO", ""), encoding="latin-1"))
