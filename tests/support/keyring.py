"""Keyrings for tests that are not about tokens."""

from web.keyring import Keyring, owners_token


def single_token(token: str) -> Keyring:
    """A keyring that holds nothing but the owner's token."""
    known = (owners_token(token),)
    return Keyring(lambda: known)
