"""The Python SDK: a client of a running memlane service.

``Client().remember("The staging database is called heron.")`` asks; ``Client.wait`` waits for the end.
"""

from memlane.synchronous.client import Client

__all__ = ["Client"]
