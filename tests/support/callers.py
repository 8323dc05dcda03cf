"""Callers of the web with tokens of their own."""

from dataclasses import dataclass
from typing import Any

from web.keyring import Keyring, KnownToken, digest_of, owners_token
from web.principal import Principal

OWNER_TOKEN = "T"


@dataclass(frozen=True)
class Caller:
    """Somebody who asks; ``principal`` is None for those whom nobody knows."""

    token: str | None
    principal: Principal | None

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}


OWNER = Caller(OWNER_TOKEN, Principal("default", "operator"))


def named(name: str, **facts: Any) -> Caller:
    """A caller whose token is the name; a client of all workspaces unless told otherwise."""
    return Caller(name, Principal(name, **facts))


def keyring_of(*callers: Caller) -> Keyring:
    """Know the owner's token and those of the callers."""
    known = [
        KnownToken(digest_of(one.principal.id.encode()), one.principal)
        for one in callers
        if one.principal is not None and one is not OWNER
    ]
    return Keyring(lambda: [owners_token(OWNER_TOKEN), *known])
