"""`memlane up`."""

from pathlib import Path
from typing import Annotated

import typer

_Host = Annotated[str | None, typer.Option(help="Address to listen on. [MEMLANE_HOST, else 127.0.0.1]")]
_Port = Annotated[int | None, typer.Option(help="Port; 0 picks a free one. [MEMLANE_PORT, else 4170]")]
_Home = Annotated[Path | None, typer.Option(help="State of the service. [MEMLANE_HOME, else ~/.memlane]")]
_Workspaces = Annotated[
    list[str] | None,
    typer.Option(
        "--workspace",
        help="Directory to serve, the first is primary; repeatable. [MEMLANE_WORKSPACES, else this one]",
    ),
]
_RedisUrl = Annotated[
    str | None, typer.Option(help="Use this Redis, not the embedded one. [MEMLANE_REDIS_URL]")
]
_MemoryDir = Annotated[
    Path | None, typer.Option(help="Existing folder for memory. [MEMLANE_MEMORY_DIR, else ~/.qwen]")
]
_Token = Annotated[
    str | None,
    typer.Option(help="Bearer token; others see it in the process list. [MEMLANE_TOKEN, else <home>/token]"),
]
_Json = Annotated[bool, typer.Option("--json", help="Say where it is as one JSON line, once ready.")]


def up(  # noqa: PLR0913 - one parameter for each option
    *,
    host: _Host = None,
    port: _Port = None,
    home: _Home = None,
    workspace: _Workspaces = None,
    redis_url: _RedisUrl = None,
    memory_dir: _MemoryDir = None,
    token: _Token = None,
    json: _Json = False,
) -> None:
    """Start everything on this machine: Redis, web and one worker; Ctrl-C stops it.

    What was accepted is kept in the home folder, and goes on at the next start.
    """
    from core.settings import load_settings
    from memlane.cli.up import run

    settings = load_settings(
        host=host,
        port=port,
        home=home,
        workspaces=tuple(workspace or ()),
        redis_url=redis_url,
        memory_dir=memory_dir,
        token=token,
    )
    run(settings, as_json=json)
