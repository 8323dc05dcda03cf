"""How the offline model dreams: it reads the documents of a folder and merges those that say the same.

Same means the words of ``similarity`` in their order; what contradicts, narrows or says more stays apart.
The richest wording stays as it is, so nothing is reworded here.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent import blocks, tools
from agent.briefing import read_folders
from agent.dream_prompt import MAX_CALLS_PER_TURN, MAX_TURNS
from agent.models.answering import path_of, reply
from agent.models.interface import Message, Reply, ToolCall
from agent.models.similarity import fingerprint, search_words, turning_words
from agent.reading import FILE_LEAD
from agent.tool_arguments import MAX_MATCHES, MAX_SOURCES
from memory.document import Document, parse_document
from memory.names import is_pinned
from memory.standing import is_under_review

_LAST_READING_TURN = MAX_TURNS - 3  # one merges, one says so

_HEADS = r"^type[ \t]*:"
_FOUND_FILE = re.compile(rf"^{re.escape(FILE_LEAD)}(.+)$", re.MULTILINE)
_STAMPS = frozenset({"created", "modified", "source"})
_KEYWORDS = frozenset({"category", "keywords", "usage_scenarios"})
_ALL_LINES = 1_000_000  # more than any document has


@dataclass(frozen=True, slots=True)
class _Memory:
    path: str
    text: str
    document: Document

    @property
    def keywords(self) -> dict[str, str]:
        """Fields that only help to find it."""
        return {key: repr(value) for key, value in self.document.extra.items() if key in _KEYWORDS}

    @property
    def narrowing(self) -> dict[str, str]:
        """Further fields, each of which may say for what or until when it holds."""
        known = _STAMPS | _KEYWORDS
        return {key: repr(value) for key, value in self.document.extra.items() if key not in known}

    @property
    def head(self) -> str:
        """What it says outside of its body."""
        return f"{self.document.name}\n{self.document.description}"

    @property
    def richness(self) -> tuple[int, int]:
        """Greater for the one that says it better."""
        return len(self.keywords), len(self.head) + len(self.document.body)


def answer(messages: Sequence[Message]) -> Reply:
    """Decide the next step of a dream from the conversation alone."""
    turn = sum(message.role == "assistant" for message in messages)
    results = {message.tool_call_id: message.text for message in messages if message.role == "tool"}
    calls = [call for message in messages for call in message.tool_calls]
    if not turn:
        return reply(turn, *[_search(folder) for folder in read_folders(messages[1].text).values()])
    merges = [call for call in calls if call.name == tools.MERGE_MEMORIES]
    if merges:
        done = [results[call.id] for call in merges if not results[call.id].startswith("Error: ")]
        return reply(turn, text=f"Merged duplicates into {len(done)} documents." if done else "")
    unread = [path for path in _unread(calls, results) if not _is_kept_by_hand(path, messages[1].text)]
    if unread and turn <= _LAST_READING_TURN:
        return reply(turn, *[_read(path) for path in unread[:MAX_CALLS_PER_TURN]])
    return reply(turn, *[_merge(*group) for group in _duplicates(_memories(calls, results))])


def _search(folder: str) -> tuple[str, dict[str, Any]]:
    return tools.GREP_SEARCH, {"pattern": _HEADS, "path": folder, "limit": MAX_MATCHES}


def _read(path: str) -> tuple[str, dict[str, Any]]:
    return tools.READ_FILE, {"file_path": path, "limit": _ALL_LINES}


def _merge(target: _Memory, sources: Sequence[_Memory]) -> tuple[str, dict[str, Any]]:
    paths = [source.path for source in sources][:MAX_SOURCES]
    return tools.MERGE_MEMORIES, {
        "target_path": target.path,
        "source_paths": paths,
        "content": target.text,
    }


def _unread(calls: Sequence[ToolCall], results: dict[str | None, str]) -> list[str]:
    searches = [results[call.id] for call in calls if call.name == tools.GREP_SEARCH]
    listed = (blocks.unwrap(blocks.MEMORY_DOCUMENT, result) or "" for result in searches)
    found = [path for text in listed for path in _FOUND_FILE.findall(text)]
    read = {path_of(call) for call in calls if call.name == tools.READ_FILE}
    return [path for path in dict.fromkeys(found) if path not in read]


def _is_kept_by_hand(path: str, order: str) -> bool:
    roots = (f"{folder}/" for folder in read_folders(order).values())
    return any(path.startswith(root) and is_pinned(path.removeprefix(root).split("/")) for root in roots)


def _memories(calls: Sequence[ToolCall], results: dict[str | None, str]) -> Iterator[_Memory]:
    for call in calls:
        # a range is announced before its block; such a document can't be merged by what was shown
        is_whole = call.name == tools.READ_FILE and results[call.id].startswith("<")
        text = blocks.unwrap(blocks.MEMORY_DOCUMENT, results[call.id]) if is_whole else None
        document = parse_document(text.encode()) if text is not None else None
        if text is not None and document is not None and _may_be_merged(document):
            yield _Memory(path_of(call), text, document)


def _may_be_merged(document: Document) -> bool:
    return bool(document.body.strip()) and not is_under_review(document)


def _duplicates(memories: Iterator[_Memory]) -> Iterator[tuple[_Memory, list[_Memory]]]:
    groups: dict[Any, list[_Memory]] = {}
    for memory in memories:
        key = memory.document.type, fingerprint(memory.document.body)
        groups.setdefault(key, []).append(memory)
    for group in groups.values():
        ordered = sorted(group, key=lambda memory: memory.path)
        target = max(ordered, key=lambda memory: memory.richness)
        sources = [one for one in ordered if one is not target and _is_covered(one, target)]
        if sources:
            yield target, sources


def _is_covered(source: _Memory, target: _Memory) -> bool:
    """Whether neither says anything beside its body that the other doesn't, as a narrower title would."""
    body = set(search_words(source.document.body)) | set(search_words(target.document.body))
    heads = (set(search_words(one.head)) - body for one in (source, target))
    turns = (turning_words(one.head) for one in (source, target))
    return (
        _same(heads)
        and _same(turns)
        and _same((source.narrowing, target.narrowing))
        and (source.keywords.items() <= target.keywords.items())
    )


def _same(both: Iterable[Any]) -> bool:
    one, other = both
    return bool(one == other)
