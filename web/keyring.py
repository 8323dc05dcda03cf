"""The tokens that open the service."""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.clock import wall_ms
from web.principal import Principal

DEFAULT_NAME = "default"


@dataclass(frozen=True, slots=True)
class KnownToken:
    """One token, of which only the digest is kept.

    Attributes:
        digest: SHA-256 of the token. A fast hash will do: tokens are random, there is nothing to guess.
        expires_ms: when it stops being good, milliseconds since the epoch; None means never.
    """

    digest: bytes
    principal: Principal
    expires_ms: int | None = None


class Keyring:
    """Finds out whose token a request carries, in a time that does not tell how close a guess was."""

    def __init__(self, read: Callable[[], Sequence[KnownToken]]) -> None:
        """Take where tokens come from.

        Args:
            read: called for each request, so that what it returns may change while the service runs.
        """
        self._read = read

    def find(self, token: bytes) -> Principal | None:
        """Whose token this is; None for one that is not known, or not good any more."""
        sent, now_ms = digest_of(token), wall_ms()  # an expiry is a date that people chose
        found = None
        for known in self._read():  # to the end, whichever it is
            is_good = known.expires_ms is None or now_ms < known.expires_ms
            if hmac.compare_digest(sent, known.digest) and is_good:
                found = found or known.principal
        return found


def digest_of(token: bytes) -> bytes:
    """What is kept of a token and compared: digests have one length, whatever was sent."""
    return hashlib.sha256(token).digest()


def owners_token(token: str) -> KnownToken:
    """The token that the service was started with, which opens everything."""
    return KnownToken(digest_of(token.encode()), Principal(DEFAULT_NAME, "operator"))
