"""`memlane worker`."""

import typer


def worker() -> None:
    """Run one worker process.

    Start as many as you like against one Redis. Configured by MEMLANE_REDIS_URL, MEMLANE_WORKSPACES,
    MEMLANE_MEMORY_DIR and others, see docs/operations.md.
    """
    from memlane.cli.worker import run

    raise typer.Exit(run())
