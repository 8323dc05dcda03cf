"""One request to a service, before it is sent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.ids import new_uuid
from memlane.errors import UnusableKey

_KEY = re.compile(r"[\x20-\x7e]{1,255}")

Method = Literal["GET", "POST", "DELETE"]


@dataclass(frozen=True, slots=True)
class Upload:
    """A body that is no JSON."""

    content: bytes
    content_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked for.

    Attributes:
        path: with the query.
        body: an object is sent as JSON.
        key: by which the service knows a repeated request and does not do it twice; None sends none.
        is_repeatable: whether doing it twice comes to the same as doing it once.
        hold_s: how long the service may hold the answer back until there is news, whole seconds.
    """

    method: Method
    path: str
    body: Mapping[str, Any] | Upload | None = None
    key: str | None = None
    is_repeatable: bool = False
    hold_s: int = 0

    def headers(self) -> dict[str, str]:
        """What this request adds to the headers of every request."""
        known = {
            "Idempotency-Key": self.key,
            "Prefer": f"wait={self.hold_s}" if self.hold_s else None,
            "Content-Type": self.body.content_type if isinstance(self.body, Upload) else None,
        }
        return {name: value for name, value in known.items() if value is not None}


def reading(path: str, *, hold_s: int = 0) -> Request:
    """Ask for what is there; see ``Request`` for the rest."""
    return Request(method="GET", path=path, is_repeatable=True, hold_s=hold_s)


def submission(path: str, body: Mapping[str, Any] | Upload, *, key: str | None) -> Request:
    """Ask for a task.

    Args:
        key: the caller's, 1 to 255 printable ASCII characters; None makes a fresh one.

    Raises:
        UnusableKey: the key is none.
    """
    if key is not None and not _KEY.fullmatch(key):
        raise UnusableKey("an idempotency key has 1 to 255 printable ASCII characters")
    return Request(method="POST", path=path, body=body, key=key or new_uuid(), is_repeatable=True)


def signal(path: str, body: Mapping[str, Any] | None = None, *, is_repeatable: bool = False) -> Request:
    """Ask for something that makes no task; see ``Request`` for the rest."""
    return Request(method="POST", path=path, body=body or {}, is_repeatable=is_repeatable)


def removal(path: str) -> Request:
    """Ask for something to be gone; it is not repeated, since the second would find nothing."""
    return Request(method="DELETE", path=path)
