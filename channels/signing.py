"""Requests that are signed: HMAC-SHA256 over when they were sent and their raw body."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import SecretStr

from core import clock

WINDOW_S = 300

Refusal = Literal["no_secret", "wrong_signature", "stale_timestamp"]


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
        return self._is_right(secret, timestamp, signature, body=body) and _is_recent(timestamp)

    def refusal(self, secret: SecretStr, headers: Mapping[str, str], body: bytes) -> Refusal | None:
        """Why a request is not taken for signed with this secret; None if it is.

        An empty secret admits nothing. Who posted is not told which it was.
        """
        value = secret.get_secret_value()
        stamp, signature = headers.get(self.timestamp_header, ""), headers.get(self.signature_header, "")
        is_right = self._is_right(value, stamp, signature, body=body)
        if not value:
            return "no_secret"
        if not is_right:
            return "wrong_signature"
        return None if _is_recent(stamp) else "stale_timestamp"

    def _is_right(self, secret: str, timestamp: str, signature: str, *, body: bytes) -> bool:
        expected = self.sign(secret, timestamp, body)
        return hmac.compare_digest(expected.encode(), signature.encode("latin-1", "replace"))


def _is_recent(timestamp: str) -> bool:
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 12:
        return False
    return abs(clock.wall_ms() / 1000 - int(timestamp)) <= WINDOW_S
