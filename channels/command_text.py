"""Slash commands as people write them."""

import re
from dataclasses import dataclass

_COMMAND = re.compile(r"/(?P<name>[A-Za-z0-9_:-]+)(?:@(?P<bot>\S*))?(?:\s+(?P<rest>.*))?", re.DOTALL)
_SHAPE = re.compile(r"/[A-Za-z0-9_:-]+(?:@\S*)?")


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command and what follows it.

    Attributes:
        name: in lower case, without its slash and without ``@bot``.
        rest: trimmed.
    """

    name: str
    rest: str


def parse_command(text: str) -> ParsedCommand | None:
    """Read a command; None for text that is none."""
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    return ParsedCommand(found["name"].lower(), (found["rest"] or "").strip())


def first_token(text: str) -> str:
    """What stands before the first blank, its slash left out; empty for text that begins with no slash."""
    tokens = text.split(maxsplit=1)
    return tokens[0][1:] if tokens and tokens[0].startswith("/") else ""


def is_command_shaped(text: str) -> bool:
    """Whether the first token can be a command: not ``//``, not a path, not a comment."""
    tokens = text.split(maxsplit=1)
    return bool(tokens) and _SHAPE.fullmatch(tokens[0]) is not None
