"""The key by which a client may send a request again without having it done again."""

import hashlib
import re

from werkzeug.wrappers import Request

from web.errors import InvalidIdempotencyKey

IDEMPOTENCY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
IDEMPOTENCY_KEY_PATTERN = "[ -~]{1,255}"

_VALID = re.compile(IDEMPOTENCY_KEY_PATTERN)


def idempotency_key_of(request: Request, *scope: str) -> str | None:
    """Read a request's key, as a digest that is good within a scope only; None without one.

    Args:
        scope: whose key it is and what for: the same key means something else in another one.

    Raises:
        InvalidIdempotencyKey: not 1 to 255 printable ASCII characters.
    """
    given = request.headers.get(IDEMPOTENCY_HEADER)
    if given is None:
        return None
    if _VALID.fullmatch(given) is None:
        raise InvalidIdempotencyKey
    return hashlib.sha256("\0".join(("request", *scope, given)).encode()).hexdigest()
