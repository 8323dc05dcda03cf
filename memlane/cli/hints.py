"""What to add when a text to remember was taken for options or for several arguments."""

from collections.abc import Sequence

_WITH_VALUE = frozenset({"--scope", "--timeout", "--workspace", "--url", "--token-file"})
_FLAGS = frozenset({"--clean", "--wait", "--json", "--help", "-h"})


def hint_for(arguments: Sequence[str]) -> str:
    """One line for a person whose ``memlane remember`` was refused; empty if there is nothing to add."""
    if arguments[:1] != ["remember"]:
        return ""
    texts, unknown = _sort(arguments[1:])
    if unknown:
        return 'A text that starts with a dash goes behind two: memlane remember -- "TEXT"\n'
    if len(texts) > 1:
        return 'A text of several words goes in quotes: memlane remember "TEXT"\n'
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
