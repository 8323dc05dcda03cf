"""Signatures of webhooks: HMAC-SHA256 over ``<timestamp>.<raw body>``, in hex after ``sha256=``."""

import hashlib
import hmac

from core import clock

TIMESTAMP_HEADER = "X-Memlane-Timestamp"
DELIVERY_HEADER = "X-Memlane-Delivery"
SIGNATURE_HEADER = "X-Memlane-Signature"
WINDOW_S = 300


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Sign a body.

    Args:
        timestamp: epoch seconds, as it is sent.
    """
    signed = timestamp.encode("latin-1", "replace") + b"." + body
    return f"sha256={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def is_signed(secret: str, timestamp: str, signature: str, *, body: bytes) -> bool:
    """Whether a body was signed with this secret within five minutes of now.

    It takes the same time for every signature that is wrong.
    """
    expected = sign(secret, timestamp, body)
    is_right = hmac.compare_digest(expected.encode(), signature.encode("latin-1", "replace"))
    return is_right and _is_recent(timestamp)


def _is_recent(timestamp: str) -> bool:
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 12:
        return False
    return abs(clock.wall_ms() / 1000 - int(timestamp)) <= WINDOW_S
