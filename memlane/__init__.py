"""The public face of memlane: Python SDK and command line."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memlane.client import Client

__all__ = ["Client"]


def __getattr__(name: str) -> "type[Client]":
    """Load ``memlane.Client`` at its first use, so that processes that don't use it don't pay for it."""
    if name != "Client":
        raise AttributeError(f"module 'memlane' has no attribute {name!r}")
    from memlane.client import Client

    return Client
