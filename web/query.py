"""What query strings say, checked."""

from collections.abc import Collection
from typing import TypeVar, get_args

from werkzeug.datastructures import MultiDict

from core.acp import Scope
from core.errors import InputError
from events.subscription import LAG_LIMITS, MAX_LAG
from web.errors import InvalidMaxQueued, InvalidScope

Choice = TypeVar("Choice", bound=str)

MAX_NUMBER_DIGITS = 9
MAX_TEXT_CHARS = 1_000


def limit_in(query: MultiDict[str, str], *, default: int, most: int) -> int:
    """How many of something are wanted.

    Raises:
        InputError: ``limit`` is no whole number from 1 to ``most``.
    """
    text = query.get("limit", str(default))
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_NUMBER_DIGITS else 0
    if not 1 <= number <= most:
        raise InputError(f"`limit` must be a whole number from 1 to {most}")
    return number


def max_queued_in(query: MultiDict[str, str]) -> int:
    """How many events a reader may be behind.

    Raises:
        InvalidMaxQueued: ``maxQueued`` is no whole number from 16 to 2048.
    """
    text = query.get("maxQueued", str(MAX_LAG))
    if not (text.isascii() and text.isdigit()):
        raise InvalidMaxQueued("`maxQueued` must be a decimal integer")
    number = int(text) if len(text) <= MAX_NUMBER_DIGITS else LAG_LIMITS.stop
    if number not in LAG_LIMITS:
        raise InvalidMaxQueued(f"`maxQueued` must be in [{LAG_LIMITS.start}, {LAG_LIMITS.stop - 1}]")
    return number


def text_in(query: MultiDict[str, str], name: str) -> str:
    """A text that has to be there.

    Raises:
        InputError: it is missing, blank or longer than 1,000 characters.
    """
    text = query.get(name, "").strip()
    if not 1 <= len(text) <= MAX_TEXT_CHARS:
        raise InputError(f"`{name}` must be a text of 1 to {MAX_TEXT_CHARS} characters")
    return text


def choice_in(
    query: MultiDict[str, str], name: str, choices: Collection[Choice], *, default: Choice
) -> Choice:
    """Which of a few words was chosen.

    Raises:
        InputError: another one.
    """
    chosen = query.get(name, default)
    for choice in choices:
        if choice == chosen:
            return choice
    raise InputError(f"`{name}` must be one of {', '.join(choices)}")


def scopes_in(query: MultiDict[str, str]) -> tuple[Scope, ...]:
    """Which scopes are wanted: the one that is named, else all.

    Raises:
        InvalidScope: ``scope`` is neither of the two.
    """
    named = query.get("scope")
    return get_args(Scope) if named is None else (scope_of(named),)


def scope_of(text: str) -> Scope:
    """Read a scope.

    Raises:
        InvalidScope: it is neither of the two.
    """
    for scope in get_args(Scope):
        if scope == text:
            known: Scope = scope
            return known
    raise InvalidScope(InvalidScope.default)
