"""What to add when a text to remember or forget was taken for options or for several arguments."""

from collections.abc import Sequence

_WITH_VALUE = frozenset({"--scope", "--timeout", "--workspace", "--url", "--token-file"})
_FLAGS = frozenset({"--clean", "--dry-run", "--purge", "--wait", "--json", "--help", "-h"})


def hint_for(arguments: Sequence[str]) -> str:
    """One line for a person whose ``remember`` or ``forget`` was refused; empty if it has nothing to add."""
    if not arguments or arguments[0] not in ("remember", "forget"):
        return ""
    command = f"memlane {arguments[0]}"
    texts, unknown = _sort(arguments[1:])
    if unknown:
        return f'A text that starts with a dash goes behind two: {command} -- "TEXT"\n'
    if len(texts) > 1:
        return f'A text of several words goes in quotes: {command} "TEXT"\n'
    return ""


def _sort(words: Sequence[str]) -> tuple[list[str], list[str]]:
    texts: list[str] = []
    unknown: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*texts, *rest], unknown
        name = word.partition("=")[0]
        if name in _WITH_VALUE:
            if name == word:
                next(rest, None)
        elif name not in _FLAGS:
            (unknown if word.startswith("-") and word != "-" else texts).append(word)
    return texts, unknown
