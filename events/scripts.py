"""Lua sources: what is put before a script so that it is whole."""

from collections.abc import Iterable
from importlib.resources import files


def lua(package: str, name: str) -> str:
    """Source of one file in a package's ``lua`` folder."""
    return files(package).joinpath(f"lua/{name}.lua").read_text("utf-8")


def append_fragment() -> str:
    """Lua source that defines ``now_ms`` and ``append_event``; each loader of scripts prepends it."""
    return lua("events", "clock") + lua("events", "append")


def assembled(script: str, fragments: Iterable[str]) -> str:
    """A script as it is sent to Redis: its shebang, if it has one, the event fragment, others, the script."""
    shebang, newline, rest = script.partition("\n") if script.startswith("#!") else ("", "", script)
    return shebang + newline + "\n".join([append_fragment(), *fragments, rest])
