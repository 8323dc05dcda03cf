"""The tools of one headless run, scoped to memory: they work on a transaction and on nothing else."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from agent import merging, reading, writing
from agent.deadline import Deadline
from agent.errors import ScopeMismatch, ToolRefused
from agent.models.interface import ToolCall, ToolSpec
from agent.provenance import find_stamped_problems
from agent.tool_arguments import (
    Arguments,
    Edit,
    GrepSearch,
    ListDirectory,
    MergeMemories,
    ReadFile,
    WriteFile,
    parse_arguments,
    schema_of,
)
from core.errors import InputError
from memory.errors import DocumentInvalid, PathEscape, TooLarge
from memory.transaction import MAX_FILES, Transaction

READ_FILE = "read_file"
WRITE_FILE = "write_file"
EDIT = "edit"
GREP_SEARCH = "grep_search"
LIST_DIRECTORY = "list_directory"
MERGE_MEMORIES = "merge_memories"

READING_TOOLS = (READ_FILE, GREP_SEARCH, LIST_DIRECTORY)
WRITING_TOOLS = (WRITE_FILE, EDIT)
ALL_TOOLS = (*READING_TOOLS, *WRITING_TOOLS)
CHANGING_TOOLS = (*WRITING_TOOLS, MERGE_MEMORIES)

NOT_SAVABLE = "The change is staged, but can't be saved like this"
_WITH_STAMP = " with the frontmatter lines for creation, change and source that are added to it"

_OFFERS: Mapping[str, tuple[type[Arguments], str]] = {
    READ_FILE: (ReadFile, "Read a memory document."),
    GREP_SEARCH: (GrepSearch, "Search memory documents for lines that match an expression."),
    LIST_DIRECTORY: (ListDirectory, "List the names in a memory folder."),
    WRITE_FILE: (
        WriteFile,
        "Create a memory document, or replace one that was read before. Missing folders are made.",
    ),
    EDIT: (Edit, "Replace exact text in a memory document."),
    MERGE_MEMORIES: (
        MergeMemories,
        "Write one document that says all that several documents say, which were read before, and remove "
        "the others. The only way to remove a document.",
    ),
}

Judge = Callable[[Transaction, Collection[str]], Iterable[DocumentInvalid]]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is told of its call, and whether the call did what it asked for."""

    text: str
    ok: bool


class MemoryTools:
    """Runs tool calls of a model; failures come back as text, but a write out of bounds ends the run."""

    def __init__(
        self,
        transaction: Transaction,
        *,
        deadline: Deadline,
        allowed: Sequence[str] = ALL_TOOLS,
        max_new: int = MAX_FILES,
        judge: Judge | None = None,
    ) -> None:
        """Offer the tools named in ``allowed``; without the reading ones no existing memory is seen.

        Args:
            max_new: documents that may be created, ≥ 1; those that exist may be updated beside.
            judge: finds further reasons why what is staged, and was written, can't be committed.
        """
        self._transaction = transaction
        self._deadline = deadline
        self._max_new = max_new
        self._judge = judge
        self._had_room = True
        self._shown: dict[str, bytes] = {}  # path to what the agent saw of it, as a digest
        self._written: set[str] = set()
        self._reading_allowed = READ_FILE in allowed
        runners: dict[str, Callable[[str], str]] = {
            READ_FILE: self._read_file,
            GREP_SEARCH: self._grep_search,
            LIST_DIRECTORY: self._list_directory,
            WRITE_FILE: self._write_file,
            EDIT: self._edit,
            MERGE_MEMORIES: self._merge_memories,
        }
        self._runners = {name: runners[name] for name in allowed}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model is told of them."""
        return tuple(_spec_of(name) for name in self._runners)

    @property
    def written(self) -> tuple[str, ...]:
        """Absolute paths of the documents written so far, rewrites with the same bytes included."""
        return tuple(sorted(self._written))

    @property
    def saved(self) -> bool:
        """Whether something was written and everything that is staged may be stamped and committed."""
        return bool(self._written) and not self.problems

    @property
    def problems(self) -> tuple[DocumentInvalid, ...]:
        """Why what is staged can't be committed, judged as it would be stored."""
        further = self._judge(self._transaction, self.written) if self._judge else ()
        return (*self._stamped_problems, *further)

    @property
    def had_room(self) -> bool:
        """Whether no change was refused because the task changes too much already."""
        return self._had_room

    def call(self, call: ToolCall) -> ToolResult:
        """Run one tool call.

        Raises:
            PathEscape: a write outside memory.
            ScopeMismatch: a write to a scope that was not asked for.
            TaskTimeout: the deadline passed during a search.
        """
        runner = self._runners.get(call.name)
        if runner is None:
            return ToolResult(f"Error: there is no such tool. Tools: {', '.join(self._runners)}", ok=False)
        try:
            return ToolResult(runner(call.arguments), ok=True)
        except InputError as error:
            self._had_room = self._had_room and not isinstance(error, TooLarge)
            if _ends_the_run(error, call):
                raise
            return ToolResult(f"Error: {error}", ok=False)

    def _read_file(self, arguments: str) -> str:
        asked = parse_arguments(ReadFile, arguments)
        text = reading.read_file(self._transaction, asked)
        self._shown[os.path.normpath(asked.file_path)] = self._digest(asked.file_path)
        return text

    def _grep_search(self, arguments: str) -> str:
        asked = parse_arguments(GrepSearch, arguments)
        return reading.grep_search(self._transaction, asked, deadline=self._deadline)

    def _list_directory(self, arguments: str) -> str:
        return reading.list_directory(self._transaction, parse_arguments(ListDirectory, arguments))

    def _write_file(self, arguments: str) -> str:
        asked = parse_arguments(WriteFile, arguments)
        text = writing.write_file(self._transaction, asked, was_shown=self._was_shown, max_new=self._max_new)
        return self._note_write(asked.file_path, text)

    def _edit(self, arguments: str) -> str:
        asked = parse_arguments(Edit, arguments)
        if not self._reading_allowed and not self._was_shown(asked.file_path):
            writing.require_writable(self._transaction, asked.file_path)
            raise ToolRefused("Only documents written in this run can be edited")
        return self._note_write(asked.file_path, writing.edit(self._transaction, asked))

    def _merge_memories(self, arguments: str) -> str:
        asked = parse_arguments(MergeMemories, arguments)
        text = merging.merge_memories(self._transaction, asked, was_shown=self._was_shown)
        return self._note_write(asked.target_path, text)

    def _was_shown(self, path: str) -> bool:
        normal = os.path.normpath(path)
        if normal in self._written:
            return True
        # a search in between reads a newer version, which must not pass for the one that was shown
        return normal in self._shown and self._shown[normal] == self._digest(path)

    @property
    def _stamped_problems(self) -> tuple[DocumentInvalid, ...]:
        return find_stamped_problems(self._transaction, self._transaction.task)

    def _digest(self, path: str) -> bytes:
        return hashlib.sha256(self._transaction.read(path)).digest()

    def _note_write(self, path: str, text: str) -> str:
        self._written.add(os.path.normpath(path))
        problems = self.problems
        if not problems:
            return text
        by_stamp = _WITH_STAMP if self._stamped_problems and not self._transaction.validate() else ""
        listed = "\n".join(f"- {problem.path}: {problem.reason}" for problem in problems)
        raise ToolRefused(f"{NOT_SAVABLE}{by_stamp}:\n{listed}\nWrite it again.")


@cache  # made with the first run: a child that only says whether it is there needs none
def _spec_of(name: str) -> ToolSpec:
    shape, description = _OFFERS[name]
    return ToolSpec(name, description, schema_of(shape))


def _ends_the_run(error: InputError, call: ToolCall) -> bool:
    return isinstance(error, PathEscape | ScopeMismatch) and call.name in CHANGING_TOOLS
