"""How the offline model answers a question about memory: with a search, and it says that it is one."""

import re
from collections.abc import Mapping, Sequence

from agent import tools
from agent.briefing import read_folders
from agent.models.answering import found_documents, reply
from agent.models.interface import Message, Reply
from agent.models.similarity import search_words
from agent.tool_arguments import MAX_MATCHES
from core.acp import Scope

MAX_SEARCH_WORDS = 12
MAX_LISTED = 10

LEAD = "Offline model: no language model is configured, so this is a search of memory and not an answer."
_NO_WORDS = "Ask with words that a memory may hold."
_NOTHING = "Nothing in memory holds a word of the question."

_LINE = re.compile(r"L\d+: (?:(?:name|description): )?(.*)")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
_TAG = re.compile(r"^\[[^\]\n]*\](?: |$)", re.MULTILINE)  # who says it in a group, or what came with it
_FRONTMATTER = re.compile(r"L\d+: (?!name: |description: )\w+: ")


def answer(messages: Sequence[Message]) -> Reply:
    """Search for the words of the last question, then list what was found, the most telling first."""
    turn = sum(message.role == "assistant" for message in messages)
    asked = max(at for at, message in enumerate(messages) if message.role == "user")
    words = _words(_question(messages[asked].text))
    if not words:
        return reply(turn, text=f"{LEAD}\n\n{_NO_WORDS}")
    results = [message.text for message in messages[asked:] if message.role == "tool"]
    if not results:
        pattern = "|".join(re.escape(word) for word in words)
        return reply(turn, (tools.GREP_SEARCH, {"pattern": pattern, "limit": MAX_MATCHES}))
    return reply(turn, text=f"{LEAD}\n\n{_listing(results[0], words, read_folders(messages[0].text))}")


def _question(prompt: str) -> str:
    """The last paragraph that says something; before it stands context, in a chat."""
    said = [_TAG.sub("", paragraph) for paragraph in _PARAGRAPHS.split(prompt)]
    return next((paragraph for paragraph in reversed(said) if search_words(paragraph)), "")


def _words(question: str) -> list[str]:
    words = sorted(dict.fromkeys(search_words(question)), key=lambda word: (-len(word), word))
    return words[:MAX_SEARCH_WORDS]


def _listing(result: str, words: Sequence[str], folders: Mapping[Scope, str]) -> str:
    found = [(path, _telling(lines)) for path, lines in found_documents(result)]
    found = [(path, lines) for path, lines in found if lines]
    ranked = sorted(found, key=lambda one: (-_weight("\n".join(one[1]), words), one[0]))[:MAX_LISTED]
    if not ranked:
        return _NOTHING
    listed = [f"- {_place(path, folders)}: {_best_line(lines, words)}" for path, lines in ranked]
    return "\n".join(["What memory holds on that:", *listed])


def _telling(lines: str) -> list[str]:
    """What a memory says, without what is only noted about it."""
    return [line for line in lines.strip().split("\n") if not _FRONTMATTER.match(line)]


def _weight(text: str, words: Sequence[str]) -> int:
    folded = text.lower()
    return sum(word in folded for word in words)


def _best_line(lines: Sequence[str], words: Sequence[str]) -> str:
    best = max(lines, key=lambda line: _weight(line, words))
    found = _LINE.match(best)
    return found[1].strip() if found else best


def _place(path: str, folders: Mapping[Scope, str]) -> str:
    for scope, root in folders.items():
        if path.startswith(f"{root}/"):
            return f"{path.removeprefix(f'{root}/')} ({scope})"
    return path
