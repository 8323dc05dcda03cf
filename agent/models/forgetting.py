"""How the offline model selects what to forget: by the words that a request and an entry share."""

import re
from collections.abc import Sequence

from agent.forget_prompt import SELECT_ENTRIES, Choice, read_question
from agent.models import vocabulary
from agent.models.answering import reply
from agent.models.interface import Message, Reply
from agent.models.similarity import search_words, turning_words

MIN_WORD_CHARACTERS = 2
MIN_SHARE = 0.75  # of the request's words that an entry has to hold
MAX_SELECTED = 5

_LEAD = re.compile("|".join(f"(?:{one})" for one in vocabulary.FORGETTING), re.IGNORECASE)


def answer(messages: Sequence[Message]) -> Reply:
    """Select the entries that share most of the request's words; say so if too many do."""
    query, choices = read_question(messages[1].text)
    meant = _meant(_LEAD.sub("", query.strip(), count=1), choices)
    if len(meant) > MAX_SELECTED:
        return reply(0, text="The request fits too many entries alike.")
    return reply(0, (SELECT_ENTRIES, {"ids": [choice.id for choice in meant]}))


def _meant(topic: str, choices: Sequence[Choice]) -> list[Choice]:
    wanted = {word for word in search_words(topic) if word not in vocabulary.STOP_WORDS}
    if not wanted or len(re.findall(r"\w", topic)) < MIN_WORD_CHARACTERS:
        return []
    required = turning_words(topic)
    scores = {
        choice.id: len(wanted & set(search_words(_text(choice)))) / len(wanted)
        for choice in choices
        if required <= turning_words(_text(choice))
    }
    best = max(scores.values(), default=0.0)
    if best < MIN_SHARE:
        return []
    return [choice for choice in choices if scores.get(choice.id) == best]


def _text(choice: Choice) -> str:
    return f"{choice.title}\n{choice.summary}" if choice.is_whole else choice.summary
