"""`memlane up`."""

from typing import Annotated

import typer

from memlane.cli import options

_Home = Annotated[
    str | None, typer.Option(metavar="DIR", help="State of the service. [MEMLANE_HOME, else ~/.memlane]")
]
_Workspaces = Annotated[
    list[str] | None,
    typer.Option(
        "--workspace",
        metavar="DIR",
        help="Folder to serve, the first is primary; repeatable. [MEMLANE_WORKSPACES, else this one]",
    ),
]
_RedisUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Use this Redis, not the embedded one. [MEMLANE_REDIS_URL]"),
]
_MemoryDir = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Existing folder for memory. [MEMLANE_MEMORY_DIR, else ~/.qwen]"),
]
_AdoptMemory = Annotated[
    bool,
    typer.Option("--adopt-memory", help="Go on with the memory folder here, though tasks ran on another."),
]
_Token = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        help="Bearer token; others see it in the process list. [MEMLANE_TOKEN, else <home>/token]",
    ),
]
_Json = Annotated[bool, typer.Option("--json", help="Say where it is as one JSON line, once ready.")]


def up(  # noqa: PLR0913 - one parameter for each option
    *,
    host: options.Host = None,
    port: options.Port = None,
    home: _Home = None,
    workspace: _Workspaces = None,
    redis_url: _RedisUrl = None,
    memory_dir: _MemoryDir = None,
    adopt_memory: _AdoptMemory = False,
    token: _Token = None,
    json: _Json = False,
) -> None:
    """Start Redis, web and a worker on this machine.

    Ctrl-C stops them, with exit code 0. What was accepted is kept in the home folder, and goes on at the
    next start.
    """
    options.check_port(port)
    options.refuse_empty(host=host, home=home, redis_url=redis_url, memory_dir=memory_dir, token=token)
    for path in workspace or ():
        options.refuse_empty(workspace=path)
    from core.settings import load_settings
    from memlane.cli.up import run
    from memlane.credentials import check_token

    if token is not None:
        check_token(token, source="--token")
    settings = load_settings(
        host=host,
        port=port,
        home=home,
        workspaces=tuple(workspace or ()),
        redis_url=redis_url,
        memory_dir=memory_dir,
        adopt_store=adopt_memory or None,
        token=token,
    )
    run(settings, as_json=json)
