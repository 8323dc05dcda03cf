"""Requests that are signed: HMAC-SHA256 over when they were sent and their raw body."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from core import clock

WINDOW_S = 300


@dataclass(frozen=True, slots=True)
class SignatureScheme:
    """How one service signs.

    Attributes:
        timestamp_header, signature_header: where both are told.
        mark: stands before the signature's hexadecimal digits.
        opening, separator: what is signed before the timestamp, and between it and the body.
    """

    timestamp_header: str
    signature_header: str
    mark: str
    opening: bytes
    separator: bytes

    def sign(self, secret: str, timestamp: str, body: bytes) -> str:
        """Sign a body.

        Args:
            timestamp: epoch seconds, as it is sent.
        """
        signed = self.opening + timestamp.encode("latin-1", "replace") + self.separator + body
        return f"{self.mark}{hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"

    def is_signed(self, secret: str, timestamp: str, signature: str, *, body: bytes) -> bool:
        """Whether a body was signed with this secret within five minutes of now; it is not looked into.

        It takes the same time for every signature that is wrong.
        """
        expected = self.sign(secret, timestamp, body)
        is_right = hmac.compare_digest(expected.encode(), signature.encode("latin-1", "replace"))
        return is_right and _is_recent(timestamp)

    def admits(self, secret: SecretStr, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether a request was signed with this secret; an empty one admits nothing."""
        value = secret.get_secret_value()
        stamp, signature = headers.get(self.timestamp_header, ""), headers.get(self.signature_header, "")
        return self.is_signed(value, stamp, signature, body=body) and bool(value)


def _is_recent(timestamp: str) -> bool:
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 12:
        return False
    return abs(clock.wall_ms() / 1000 - int(timestamp)) <= WINDOW_S
