"""How often a token may ask for work."""

import math
from contextlib import suppress

from flask import g, request
from werkzeug.wrappers import Response

from core.errors import DependencyError
from jobs.errors import RateLimitExceeded
from jobs.rates import WINDOW_MS, Quota, Rates
from web.keyring import DEFAULT_NAME
from web.principal import PRINCIPAL, Principal

NAMED_LIMIT = 600
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

LIMIT_HEADER = "RateLimit"
POLICY_HEADER = "RateLimit-Policy"

_POLICY = "token"


class Throttle:
    """Counts requests that may change something, by the name of their token; reading is not counted.

    The owner's token is limited only if a limit is configured: there is nobody to protect the owner from.
    """

    def __init__(self, rates: Rates, *, limit: int | None) -> None:
        """Take the limit.

        Args:
            limit: requests a minute; 0 means none. None means ``NAMED_LIMIT`` for all but the owner's token.
        """
        self._rates = rates
        self._limit = limit

    def take(self) -> None:
        """Count the current request.

        While Redis is away nothing is counted: what needs Redis fails by itself, and says so better.

        Raises:
            RateLimitExceeded: it is one too many.
        """
        principal: Principal | None = request.environ.get(PRINCIPAL)
        if principal is None or request.method in SAFE_METHODS:
            return
        limit = self._limit_of(principal)
        if limit == 0:
            return
        with suppress(DependencyError):
            g.quota = self._rates.take(principal.id, limit=limit)
        quota: Quota | None = g.get("quota")
        if quota is not None and quota.is_exceeded:
            raise RateLimitExceeded("Rate limit exceeded", retry_after_s=math.ceil(quota.wait_ms / 1000))

    def tell(self, response: Response) -> Response:
        """Add to an answer where its caller stands (draft-ietf-httpapi-ratelimit-headers)."""
        quota: Quota | None = g.get("quota")
        if quota is not None:
            full_s = math.ceil(quota.full_ms / 1000)
            response.headers[POLICY_HEADER] = f'"{_POLICY}";q={quota.limit};w={WINDOW_MS // 1000}'
            response.headers[LIMIT_HEADER] = f'"{_POLICY}";r={quota.left};t={full_s}'
        return response

    def _limit_of(self, principal: Principal) -> int:
        if self._limit is not None:
            return self._limit
        return 0 if principal.id == DEFAULT_NAME else NAMED_LIMIT
