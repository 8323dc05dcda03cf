"""Rules by which the offline model files a fact: type and scope."""

import re
from collections.abc import Collection, Iterable

from agent.models import vocabulary
from agent.models.wording import fact_of, first_line
from core.acp import Scope
from memory.document import MemoryType

MAX_WORDS_ABOUT_A_PLACE = 25
MAX_WORDS_BESIDE_A_URL = 14


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in patterns), re.IGNORECASE)


_CIRCUMSTANCE = r"\s*(?:(?:e\.g|i\.e|also|but|and|so)[.,]*\s+|(?:in|for)\s[^,:.]{1,30}[,:]\s*)?"
_RULE_AT_THE_START = re.compile(
    _CIRCUMSTANCE + _any_of(vocabulary.RULES_AT_THE_START).pattern.join(("(?:", ")")), re.IGNORECASE
)
_RULE_ANYWHERE = _any_of(vocabulary.RULES_ANYWHERE)
_FIRST_PERSON = _any_of(vocabulary.FIRST_PERSON)
_TASTE = _any_of(vocabulary.TASTE)
_EVERYONE = _any_of(vocabulary.EVERYONE)
_PLACE = _any_of(vocabulary.PLACES)
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")


def type_of(content: str, folders: Collection[Scope]) -> MemoryType:
    """Pick the type of a fact by its wording.

    What is not understood stays with the workspace it was said in, where it reaches fewest, if
    that folder may be used.
    """
    fact = fact_of(content)
    if _is_rule(fact):
        return "feedback"
    if _is_about_a_place(fact):
        return "reference"
    if _is_personal(fact) or "project" not in folders:
        return "user"
    return "project"


def scope_of(content: str, kind: MemoryType, folders: Collection[Scope]) -> Scope:
    """Pick the scope for a fact of this type among the folders that may be used (one or two)."""
    if len(folders) == 1:
        return next(iter(folders))
    if kind == "user":
        return "user"
    if kind == "feedback":
        return "project" if _EVERYONE.search(content) else "user"
    return "user" if _FIRST_PERSON.search(content) and not _EVERYONE.search(content) else "project"


def _is_rule(fact: str) -> bool:
    starts = _RULE_AT_THE_START.match(fact) or _RULE_AT_THE_START.match(first_line(fact))
    return starts is not None or _RULE_ANYWHERE.search(fact) is not None


def _is_about_a_place(fact: str) -> bool:
    beside = _URL.sub(" ", fact)
    size = len(beside.split()) + len(_UNSPACED.findall(beside)) // 2
    if beside != fact and size <= MAX_WORDS_BESIDE_A_URL:
        return True
    return size <= MAX_WORDS_ABOUT_A_PLACE and _PLACE.search(fact) is not None


def _is_personal(fact: str) -> bool:
    if _FIRST_PERSON.search(fact):
        return True
    return _TASTE.search(fact) is not None and _EVERYONE.search(fact) is None
