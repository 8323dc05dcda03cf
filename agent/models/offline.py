"""The offline model: deterministic, no network, same interface and loop as any other model.

It reads the conversation and answers with tool calls: search for documents about the same
thing, read those that might say it already, then one write. Without the reading tools (a
``clean`` request) it writes at once and learns of a taken name only from the refused write.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent import blocks, tools
from agent.deadline import Deadline
from agent.models import rules, titles
from agent.models.interface import Message, Reply, ToolCall, ToolSpec
from agent.models.similarity import Likeness, compare, search_words
from agent.models.wording import clean
from agent.prompts import Order, read_order
from agent.reading import FILE_LEAD
from agent.tool_arguments import MAX_MATCHES
from agent.writing import FREE_NAME_LEAD
from core.acp import Usage
from memory.document import parse_document, render_document, set_document_fields
from memory.names import is_pinned
from memory.validation import find_problems, is_placeholder

MAX_SEARCH_WORDS = 8
MAX_CANDIDATES = 8
MAX_LITERAL_CHARACTERS = 60

_FREE_NAME = re.compile(rf"{re.escape(FREE_NAME_LEAD)}(.+\.md)\Z", re.DOTALL)
_FOUND_FILE = re.compile(rf"^{re.escape(FILE_LEAD)}(.+)$", re.MULTILINE)
_LIST_MARK = re.compile(r"\s*[-*]\s+")


@dataclass(frozen=True, slots=True)
class _Shown:
    """An existing document that a read showed in full."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class _Match:
    """A piece of an existing document that is about the same fact.

    Attributes:
        old: the piece as it stands in the document.
        is_whole: whether it is the document's whole body.
    """

    document: _Shown
    old: str
    is_whole: bool
    likeness: Likeness


class OfflineModel:
    """Answers by rules; serves whenever no language model is configured."""

    name = "offline"

    def complete(
        self, messages: Sequence[Message], offered: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        """Decide the next step of a save request from the conversation alone.

        Raises:
            TaskTimeout: the deadline has passed.
        """
        deadline.check()
        order = _storable(read_order(messages[1].text))
        turns = [message for message in messages if message.role == "assistant"]
        last_results = [message.text for message in _since_last_turn(messages)]
        can_read = any(spec.name == tools.READ_FILE for spec in offered)
        if not turns and can_read:
            return _reply(len(turns), *_searches(order))
        tried = [call for turn in turns for call in turn.tool_calls if call.name in tools.WRITING_TOOLS]
        if tried:
            return _retry(order, tried, last_results, turn=len(turns))
        return _look_or_write(order, turns, last_results)


def _storable(order: Order) -> Order:
    """The order with a content that any document may hold; a line that looks left out is put in quotes."""
    lines = clean(order.content).splitlines(keepends=True)
    return replace(order, content="".join(_quoted(line) if is_placeholder(line) else line for line in lines))


def _quoted(line: str) -> str:
    text = line.strip()
    return line.replace(text, f'"{text}"')


def _look_or_write(order: Order, turns: Sequence[Message], results: Sequence[str]) -> Reply:
    candidates = _candidates(order, results) if len(turns) == 1 else []
    if candidates:
        calls = [(tools.READ_FILE, {"file_path": path}) for path in candidates]
        return _reply(len(turns), *calls)
    last_calls = turns[-1].tool_calls if turns else ()
    shown = [one for one in _shown_documents(last_calls, results) if _may_change(one, order)]
    match = _find_match(order, shown)
    if match is not None:
        return _update(order, match, turn=len(turns))
    read = {json.loads(call.arguments).get("file_path") for call in last_calls}
    return _create(order, turn=len(turns), path=_path_beside(order, read))


def _since_last_turn(messages: Sequence[Message]) -> list[Message]:
    results: list[Message] = []
    for message in reversed(messages):
        if message.role != "tool":
            break
        results.insert(0, message)
    return results


def _searches(order: Order) -> list[tuple[str, dict[str, Any]]]:
    words = sorted(dict.fromkeys(search_words(order.content)), key=lambda word: (-len(word), word))
    wanted = words[:MAX_SEARCH_WORDS] or [order.content.strip().partition("\n")[0][:MAX_LITERAL_CHARACTERS]]
    pattern = "|".join(re.escape(word) for word in wanted)
    if not pattern:
        return [(tools.LIST_DIRECTORY, {"path": path}) for path in order.folders.values()]
    return [
        (tools.GREP_SEARCH, {"pattern": pattern, "path": path, "limit": MAX_MATCHES})
        for path in order.folders.values()
    ]


def _candidates(order: Order, results: Sequence[str]) -> list[str]:
    """Documents whose matching lines share most words with the request, best first."""
    wanted = set(search_words(order.content))
    scores: dict[str, int] = {}
    for result in results:
        listed = blocks.unwrap(blocks.MEMORY_DOCUMENT, result) or ""
        pieces = _FOUND_FILE.split(listed)[1:]
        for path, lines in zip(pieces[::2], pieces[1::2], strict=True):
            scores[path] = len(wanted & set(search_words(lines)))
    enough = [path for path, score in scores.items() if 2 * score >= len(wanted)]
    return sorted(enough, key=lambda path: (-scores[path], path))[:MAX_CANDIDATES]


def _shown_documents(asked: Sequence[ToolCall], results: Sequence[str]) -> list[_Shown]:
    shown = []
    for call, result in zip(asked, results, strict=True):
        # a range is announced before its block; such a document can't be rewritten from what was shown
        text = blocks.unwrap(blocks.MEMORY_DOCUMENT, result) if result.startswith("<") else None
        path: str = json.loads(call.arguments).get("file_path", "")
        if call.name == tools.READ_FILE and text is not None:
            shown.append(_Shown(path, text))
    return shown


def _may_change(document: _Shown, order: Order) -> bool:
    return not is_pinned(_short(document.path, order).split("/"))


def _find_match(order: Order, documents: Sequence[_Shown]) -> _Match | None:
    matches = [match for document in documents for match in _matches_in(order.content, document)]
    return min(matches, key=lambda match: match.likeness != "known", default=None)


def _matches_in(content: str, document: _Shown) -> list[_Match]:
    parsed = parse_document(document.text.encode())
    if parsed is None:
        return []
    pieces = [(parsed.body.strip(), True), *((line.strip(), False) for line in parsed.body.split("\n"))]
    compared = [
        _Match(document, piece, is_whole, compare(content, piece))
        for piece, is_whole in pieces
        if piece and (is_whole or piece != pieces[0][0])
    ]
    wanted = {"known"} if any(find_problems(document.text.encode())) else {"known", "newer"}
    return [match for match in compared if match.likeness in wanted]


def _update(order: Order, match: _Match, *, turn: int) -> Reply:
    path, text = match.document.path, match.document.text
    if match.likeness == "known":
        return _reply(turn, (tools.WRITE_FILE, {"file_path": path, "content": text}))
    sentence = f"Updated an existing memory in {_short(path, order)}."
    if not match.is_whole:
        mark = _LIST_MARK.match(match.old)
        new = (mark[0] if mark else "") + " ".join(order.content.split())
        # replace_all: the description often repeats the line
        call = {"file_path": path, "old_string": match.old, "new_string": new, "replace_all": True}
        return _reply(turn, (tools.EDIT, call), text=sentence)
    call = {"file_path": path, "content": _with_body(match, order.content.strip())}
    return _reply(turn, (tools.WRITE_FILE, call), text=sentence)


def _with_body(match: _Match, body: str) -> str:
    """The document with another body; name and description follow if they came from the old one."""
    text = match.document.text
    if "\r\n" in text:
        body = body.replace("\r\n", "\n").replace("\n", "\r\n")
    head, _, tail = text.rpartition(match.old)
    fields = {}
    parsed = parse_document(text.encode())
    if parsed is not None and parsed.name == titles.title_of(match.old):
        fields["name"] = titles.title_of(body)
    if parsed is not None and parsed.description == titles.description_of(match.old):
        fields["description"] = titles.description_of(body)
    return set_document_fields(f"{head}{body}{tail}".encode(), fields).decode()


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
    return _reply(turn, (tools.WRITE_FILE, call), text=sentence)


def _path_beside(order: Order, read: Collection[str]) -> str:
    """Where a new document goes; never where one is that was read, because that one could be overwritten."""
    kind = rules.type_of(order.content, order.folders)
    scope = rules.scope_of(order.content, kind, order.folders)
    stem = f"{order.folders[scope]}/{kind}/{titles.file_stem_of(order.content)}"
    number = 1
    while (path := f"{stem}.md" if number == 1 else f"{stem}-{number}.md") in read:
        number += 1
    return path


def _retry(order: Order, tried: Sequence[ToolCall], results: Sequence[str], *, turn: int) -> Reply:
    """After a refused write take the free name it offers, then one that no other document has."""
    offered = _FREE_NAME.search(results[-1])
    if offered is not None:
        return _create(order, turn=turn, path=offered[1])
    kind = rules.type_of(order.content, order.folders)
    scope = rules.scope_of(order.content, kind, order.folders)
    digest = titles.content_hash(order.content)
    return _create(order, turn=turn, path=f"{order.folders[scope]}/{kind}-{digest}-{len(tried)}.md")


def _short(path: str, order: Order) -> str:
    for root in order.folders.values():
        if path.startswith(f"{root}/"):
            return path.removeprefix(f"{root}/")
    return path


def _reply(turn: int, *calls: tuple[str, dict[str, Any]], text: str = "") -> Reply:
    made = tuple(
        ToolCall(f"offline-{turn}-{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(calls)
    )
    return Reply(text, made, Usage(model_calls=1))
