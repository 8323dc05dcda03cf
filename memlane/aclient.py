"""The Python SDK for programs with an event loop; ``memlane.client`` for others."""

from memlane.asynchronous.client import AsyncClient

__all__ = ["AsyncClient"]
