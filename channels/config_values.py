"""Single values of a channel's configuration, as they are read."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from channels.errors import ChannelConfigInvalid

MAX_NUMBER = 1_000_000_000

_T = TypeVar("_T")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class ChannelWarning:
    """Something that was not taken as it was written.

    Attributes:
        path: where, such as ``channels.team.identity.id``.
    """

    path: str
    message: str


@dataclass(slots=True)
class ChannelReading:
    """One channel while it is read.

    Attributes:
        path: where it stands in the document.
        environment: where values that begin with ``$`` are looked up.
        warnings: what was not taken as it was written, so far.
    """

    path: str
    raw: Mapping[str, Any]
    environment: Mapping[str, str]
    warnings: list[ChannelWarning] = field(default_factory=list)

    def warn(self, key: str, message: str) -> None:
        """Note that something is read differently from how it is written."""
        self.warnings.append(ChannelWarning(f"{self.path}.{key}", message))

    def refuse(self, key: str, message: str) -> ChannelConfigInvalid:
        """The error that says why the channel can't be used."""
        return ChannelConfigInvalid(f"{self.path}.{key}: {message}")

    def secret(self, key: str) -> str | None:
        """A value that may stand in the environment; ``$$`` begins one that begins with ``$``.

        Raises:
            ChannelConfigInvalid: it is no text, or the environment lacks it.
        """
        value = self.raw.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise self.refuse(key, "a text is needed")
        return _resolved(value, self.environment, path=f"{self.path}.{key}")

    def choice(self, key: str, allowed: tuple[_T, ...]) -> _T:
        """One of what is allowed; the first of it for no value.

        Raises:
            ChannelConfigInvalid: it is something else.
        """
        return self.choice_of(self.raw.get(key), allowed, key=key) or allowed[0]

    def choice_of(self, value: Any, allowed: tuple[_T, ...], *, key: str) -> _T | None:
        """One of what is allowed; None for no value.

        Raises:
            ChannelConfigInvalid: it is something else.
        """
        found = one_of(value, allowed)
        if value and found is None:
            raise self.refuse(key, f"one of {', '.join(map(str, allowed))} is needed")
        return found

    def choice_or(self, key: str, allowed: tuple[_T, ...], otherwise: _T, *, meaning: str) -> _T | None:
        """One of what is allowed; None for no value, and what is safe for something else.

        Args:
            meaning: of ``otherwise``, for the warning.
        """
        value = self.raw.get(key)
        found = one_of(value, allowed)
        if value and found is None:
            self.warn(key, f"{value!r} is none of {', '.join(map(str, allowed))}; {meaning}")
            return otherwise
        return found

    def text(self, key: str) -> str | None:
        """A text that is not empty; None for what is none."""
        value = self.raw.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            self.warn(key, "a text is needed; it is left out")
            return None
        return value

    def labels(self, key: str, fields: Sequence[str]) -> Mapping[str, str] | None:
        """The texts of an object that only labels something; what can't be used is left out."""
        value = self.raw.get(key)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self.warn(key, "an object is needed; it is left out")
            return None
        labels = {name: value[name] for name in fields if value.get(name) not in (None, "")}
        for name in [name for name, label in labels.items() if not isinstance(label, str)]:
            self.warn(f"{key}.{name}", "a text is needed; it is left out")
            del labels[name]
        return labels

    def numbers(self, key: str, usual: Mapping[str, int]) -> Mapping[str, int]:
        """The numbers of an object by their names; in place of what can't be used stands what is usual."""
        values = self.raw.get(key)
        if values is not None and not isinstance(values, Mapping):
            self.warn(key, "an object is needed; it is left out")
        given = values if isinstance(values, Mapping) else {}
        found = {name: whole_number(given.get(name, default)) for name, default in usual.items()}
        for name in [name for name, number in found.items() if number is None]:
            self.warn(f"{key}.{name}", f"a number is needed; {usual[name]} is used")
        return {name: usual[name] if number is None else number for name, number in found.items()}


def _resolved(value: str, environment: Mapping[str, str], *, path: str) -> str:
    """A text, or what the environment has under the name that follows its ``$``.

    Raises:
        ChannelConfigInvalid: the environment has nothing there.
    """
    if value.startswith("$$"):
        return value[1:]
    if not value.startswith("$"):
        return value
    name = value[1:]
    if not _VARIABLE.fullmatch(name):  # not shown: it may be the secret itself
        raise ChannelConfigInvalid(f"{path}: what follows $ is no variable's name; write $$ for a plain $")
    found = environment.get(name, "")
    if not found:
        raise ChannelConfigInvalid(f"{path}: the environment variable {name} is not set")
    return found


def one_of(value: Any, allowed: Sequence[_T]) -> _T | None:
    """What is allowed and equals a value; None for any other."""
    return next((one for one in allowed if one == value), None)


def whole_number(value: Any) -> int | None:
    """The whole number below a number; None for what is none, or is larger than any number here can be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return math.floor(value) if abs(value) <= MAX_NUMBER else None
