"""Loading of the Lua scripts: one file each, fragments prepended, shebang kept first."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from events.log import append_fragment

if TYPE_CHECKING:
    import redis
    from redis.commands.core import Script

NAMES = ("submit", "claim", "renew", "finish", "sweep")


@cache
def source(name: str) -> str:
    """Full source of a script as it is sent to Redis."""
    folder = files("jobs").joinpath("lua")
    text = folder.joinpath(f"{name}.lua").read_text("utf-8")
    shebang, newline, rest = text.partition("\n") if text.startswith("#!") else ("", "", text)
    prelude = folder.joinpath("prelude.lua").read_text("utf-8")
    return f"{shebang}{newline}{append_fragment()}\n{prelude}\n{rest}"


class Scripts:
    """The lane scripts, bound to a client; each is sent once and then called by its digest."""

    def __init__(self, client: "redis.Redis") -> None:
        self._scripts: dict[str, Script] = {name: client.register_script(source(name)) for name in NAMES}

    def __getitem__(self, name: str) -> "Script":
        return self._scripts[name]
