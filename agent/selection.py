"""Which entries a request to forget means: one question to a model, else a narrow literal rule."""

import re
from collections.abc import Collection, Sequence

from agent.deadline import Deadline
from agent.errors import ModelUnavailable, SelectionFailed, TaskTimeout, ToolRefused
from agent.forget_prompt import SELECT_ENTRIES, fitting, forget_question, forget_system, select_spec
from agent.models.interface import Message, Model, Reply
from agent.tool_arguments import SelectEntries, parse_arguments
from core.logs import get_logger
from memory.candidates import Candidate
from memory.words import fold_text

SELECTION_MS = 8_000
MAX_LITERAL_MATCHES = 5
MIN_WORD_CHARACTERS = 3

_log = get_logger(__name__)


def select(
    query: str, candidates: Sequence[Candidate], *, model: Model, deadline: Deadline
) -> tuple[Candidate, ...]:
    """Select the entries that a request means, in the order of the candidates; none if it means none.

    A model that does not answer within 8 s, or twice not as it was asked to, is replaced by a literal
    rule: what holds the whole request, if that is long enough and at most five entries do.

    Raises:
        SelectionFailed: the model failed, and the literal rule can't tell either.
        ModelRejected: the server refuses the request for good; then nothing is guessed.
        TaskTimeout: the task's own deadline passed.
    """
    try:
        chosen = _ask(query, fitting(candidates), model=model, deadline=deadline.within(SELECTION_MS))
    except (ModelUnavailable, TaskTimeout, ToolRefused) as error:
        deadline.check()
        _log.warning("selection_fell_back", error=type(error).__name__)
        return _literal_matches(query, candidates)
    return tuple(candidate for candidate in candidates if candidate.id in chosen)


def own_text(candidate: Candidate) -> str:
    """What an entry says; the name of its document counts only if it is all of it."""
    text = candidate.entry.text
    return f"{candidate.name}\n{text}" if candidate.entry.is_whole else text


def _ask(query: str, candidates: Sequence[Candidate], *, model: Model, deadline: Deadline) -> frozenset[str]:
    known = {candidate.id for candidate in candidates}
    talk = [Message("system", forget_system()), Message("user", forget_question(query, candidates))]
    reply = model.complete(talk, (select_spec(),), deadline=deadline)
    try:
        return _chosen(reply, known)
    except ToolRefused as refused:
        talk += _told(reply, f"Error: {refused}")
    return _chosen(model.complete(talk, (select_spec(),), deadline=deadline), known)


def _chosen(reply: Reply, known: Collection[str]) -> frozenset[str]:
    if [call.name for call in reply.tool_calls] != [SELECT_ENTRIES]:
        raise ToolRefused(f"Answer with exactly one call of {SELECT_ENTRIES}")
    ids = parse_arguments(SelectEntries, reply.tool_calls[0].arguments).ids
    if any(one not in known for one in ids):
        raise ToolRefused("An id is not in the list; use the ids exactly as they are listed")
    return frozenset(ids)


def _told(reply: Reply, problem: str) -> list[Message]:
    answered = [Message("tool", problem, tool_call_id=call.id) for call in reply.tool_calls]
    made = Message("assistant", reply.text, tool_calls=reply.tool_calls)
    return [made, *(answered or [Message("user", problem)])]


def _literal_matches(query: str, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    wanted = fold_text(query)
    if len(re.findall(r"\w", wanted)) < MIN_WORD_CHARACTERS:
        raise SelectionFailed("the request is too short to be searched for")
    found = tuple(one for one in candidates if wanted in fold_text(own_text(one)))
    if not 1 <= len(found) <= MAX_LITERAL_MATCHES:
        raise SelectionFailed(f"{len(found)} entries hold the request literally")
    return found
