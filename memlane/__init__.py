"""The public face of memlane: Python SDK and command line."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memlane.aclient import AsyncClient
    from memlane.client import Client

__all__ = ["AsyncClient", "Client"]


def __getattr__(name: str) -> "type[AsyncClient | Client]":
    """Load a client at its first use, so that processes that don't use it don't pay for it."""
    if name == "Client":
        from memlane.client import Client

        return Client
    if name == "AsyncClient":
        from memlane.aclient import AsyncClient

        return AsyncClient
    raise AttributeError(f"module 'memlane' has no attribute {name!r}")
