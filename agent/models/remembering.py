"""How the offline model saves a fact.

It reads the conversation and answers with tool calls: search for documents about the same
thing, read those that might say it already, then one write. Without the reading tools (a
``clean`` request) it writes at once and learns of a taken name only from the refused write.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from agent import blocks, tools
from agent.models import rules, titles
from agent.models.answering import found_documents, path_of, reply
from agent.models.interface import Message, Reply
from agent.models.matching import Match, Shown, find_match, smallest_edit, updated_text
from agent.models.similarity import search_words
from agent.models.wording import clean
from agent.reading import MAX_MATCH_CHARACTERS
from agent.remember_prompt import Order, read_order
from agent.tool_arguments import MAX_MATCHES
from agent.writing import FREE_NAME_LEAD
from memory.document import render_document
from memory.names import is_pinned
from memory.validation import is_placeholder

MAX_SEARCH_WORDS = 8
MAX_CANDIDATES = 8
MAX_LITERAL_CHARACTERS = 60

_FREE_NAME = re.compile(rf"{re.escape(FREE_NAME_LEAD)}(.+\.md)\Z", re.DOTALL)
_SHOWN_CHARACTERS = MAX_MATCH_CHARACTERS - 20  # a line's beginning that a search shows, marks left aside
_ALL_LINES = 1_000_000  # more than any document has


def answer(messages: Sequence[Message], offered: Collection[str]) -> Reply:
    """Decide the next step of a save request.

    Args:
        offered: names of the tools.
    """
    order = _storable(read_order(messages[1].text))
    talk = _Conversation(messages, can_read=tools.READ_FILE in offered)
    if not talk.turns and talk.can_read:
        return reply(0, *_searches(order))
    if any(call.name in tools.WRITING_TOOLS for call in talk.last_calls):
        return _after_refusal(order, talk)
    return _look_or_write(order, talk)


class _Conversation:
    """What was asked and answered so far.

    Attributes:
        turns: what the model has said.
        last_calls, last_results: the calls of the last turn and what came back.
        tried: every write so far.
        read: every path that a read was tried of.
        free_name: what the last refused write offered, if any did.
    """

    def __init__(self, messages: Sequence[Message], *, can_read: bool) -> None:
        self.can_read = can_read
        self.turns = [message for message in messages if message.role == "assistant"]
        self.last_calls = self.turns[-1].tool_calls if self.turns else ()
        self.last_results = [message.text for message in messages[len(messages) - len(self.last_calls) :]]
        made = [call for turn in self.turns for call in turn.tool_calls]
        self.tried = [call for call in made if call.name in tools.WRITING_TOOLS]
        self.read = {path_of(call) for call in made if call.name == tools.READ_FILE}
        writes = {call.id for call in self.tried}
        offers = [_FREE_NAME.search(one.text) for one in messages if one.tool_call_id in writes]
        self.free_name = next((offer[1] for offer in reversed(offers) if offer is not None), None)


def _storable(order: Order) -> Order:
    """The order with a content that any document may hold; a line that looks left out is put in quotes."""
    lines = clean(order.content).splitlines(keepends=True)
    return replace(order, content="".join(_quoted(line) if is_placeholder(line) else line for line in lines))


def _quoted(line: str) -> str:
    text = line.strip()
    return line.replace(text, f'"{text}"')


def _look_or_write(order: Order, talk: _Conversation) -> Reply:
    turn = len(talk.turns)
    candidates = _candidates(order, talk.last_results) if turn == 1 else []
    if candidates:
        return reply(turn, *_reads(candidates))
    shown = [one for one in _shown_documents(talk) if _may_change(one, order)]
    match = find_match(order.content, shown)
    if match is not None:
        return _update(order, match, turn=turn)
    return _create(order, turn=turn, path=talk.free_name or _path_beside(order, talk.read))


def _after_refusal(order: Order, talk: _Conversation) -> Reply:
    """After a refused write look at who has the name, then take the free one, else one that nobody has."""
    turn, refused = len(talk.turns), path_of(talk.tried[-1])
    offer = _FREE_NAME.search(talk.last_results[-1])
    if offer is not None:
        unread = [path for path in _taken_names(refused, offer[1]) if path not in talk.read]
        if unread and talk.can_read:
            return reply(turn, *_reads(unread))
        return _create(order, turn=turn, path=offer[1])
    kind = rules.type_of(order.content, order.folders)
    scope = rules.scope_of(order.content, kind, order.folders)
    digest = titles.content_hash(order.content)
    path = f"{order.folders[scope]}/{kind}-{digest}-{len(talk.tried)}.md"
    return _create(order, turn=turn, path=path)


def _taken_names(refused: str, free: str) -> list[str]:
    """The names that come before a free one, the refused one first."""
    stem = refused.removesuffix(".md")
    numbered = (f"{stem}-{number}.md" for number in range(2, MAX_CANDIDATES + 1))
    return [refused, *takewhile(lambda path: path != free, numbered)]


def _reads(paths: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    return [(tools.READ_FILE, {"file_path": path, "limit": _ALL_LINES}) for path in paths]


def _searches(order: Order) -> list[tuple[str, dict[str, Any]]]:
    wanted = _searched_words(order) or [order.content.strip().partition("\n")[0][:MAX_LITERAL_CHARACTERS]]
    pattern = "|".join(re.escape(word) for word in wanted)
    if not pattern:
        return [(tools.LIST_DIRECTORY, {"path": path}) for path in order.folders.values()]
    return [
        (tools.GREP_SEARCH, {"pattern": pattern, "path": path, "limit": MAX_MATCHES})
        for path in order.folders.values()
    ]


def _searched_words(order: Order) -> list[str]:
    """The longest words of the request, of those that a search which finds them also shows."""
    shown = "\n".join(_beginning(line) for line in order.content.split("\n"))
    words = sorted(dict.fromkeys(search_words(shown)), key=lambda word: (-len(word), word))
    return words[:MAX_SEARCH_WORDS]


def _beginning(line: str) -> str:
    if len(line) <= _SHOWN_CHARACTERS:
        return line
    cut = line[:_SHOWN_CHARACTERS]
    return cut.rpartition(" ")[0] or cut


def _candidates(order: Order, results: Sequence[str]) -> list[str]:
    """Documents whose matching lines have half of the request's or of the searched words, best first."""
    wanted, searched = set(search_words(order.content)), set(_searched_words(order))
    scores: dict[str, int] = {}
    for result in results:
        for path, lines in found_documents(result):
            found = set(search_words(lines))
            if any(2 * len(words & found) >= len(words) for words in (wanted, searched)):
                scores[path] = len(wanted & found)
    return sorted(scores, key=lambda path: (-scores[path], path))[:MAX_CANDIDATES]


def _shown_documents(talk: _Conversation) -> list[Shown]:
    shown = []
    for call, result in zip(talk.last_calls, talk.last_results, strict=True):
        # a range is announced before its block; such a document can't be rewritten from what was shown
        text = blocks.unwrap(blocks.MEMORY_DOCUMENT, result) if result.startswith("<") else None
        if call.name == tools.READ_FILE and text is not None:
            shown.append(Shown(path_of(call), text))
    return shown


def _may_change(document: Shown, order: Order) -> bool:
    return not is_pinned(_short(document.path, order).split("/"))


def _update(order: Order, match: Match, *, turn: int) -> Reply:
    path, text = match.document.path, match.document.text
    if match.likeness == "known":
        return reply(turn, (tools.WRITE_FILE, {"file_path": path, "content": text}))
    sentence = f"Updated an existing memory in {_short(path, order)}."
    after = updated_text(match, order.content)
    if match.is_whole:
        return reply(turn, (tools.WRITE_FILE, {"file_path": path, "content": after}), text=sentence)
    old, new = smallest_edit(text, after)
    call = {"file_path": path, "old_string": old, "new_string": new}
    return reply(turn, (tools.EDIT, call), text=sentence)


def _create(order: Order, *, turn: int, path: str) -> Reply:
    content = order.content
    kind = rules.type_of(content, order.folders)
    title = titles.title_of(content)
    document = render_document(
        type=kind,
        name=title,
        description=titles.description_of(content),
        body=f"\n{content.strip()}\n",
    )
    call = {"file_path": path, "content": document.decode()}
    sentence = f'Saved a {kind} memory "{title}" to {_short(path, order)}.'
    return reply(turn, (tools.WRITE_FILE, call), text=sentence)


def _path_beside(order: Order, read: Collection[str]) -> str:
    """Where a new document goes; never where one is that was read, because that one could be overwritten."""
    kind = rules.type_of(order.content, order.folders)
    scope = rules.scope_of(order.content, kind, order.folders)
    stem = f"{order.folders[scope]}/{kind}/{titles.file_stem_of(order.content)}"
    number = 1
    while (path := f"{stem}.md" if number == 1 else f"{stem}-{number}.md") in read:
        number += 1
    return path


def _short(path: str, order: Order) -> str:
    for root in order.folders.values():
        if path.startswith(f"{root}/"):
            return path.removeprefix(f"{root}/")
    return path
