"""`memlane web`."""

from typing import Annotated

import typer


def web(
    host: Annotated[str | None, typer.Option(help="Address to listen on. [MEMLANE_HOST, 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Port, 0 for a free one. [MEMLANE_PORT, 4170]")] = None,
) -> None:
    """Run one web process; start as many as you like against one Redis.

    Configured by MEMLANE_REDIS_URL, MEMLANE_WORKSPACES, MEMLANE_TOKEN and others.
    """
    from memlane.cli.web import run

    run(host=host, port=port)
