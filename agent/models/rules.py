"""Rules by which the offline model files a fact: type, scope, title, file name."""

import hashlib
import re
import unicodedata
from collections.abc import Collection

from core.acp import Scope
from memory.document import MemoryType

MAX_TITLE_CHARACTERS = 80
MAX_DESCRIPTION_CHARACTERS = 120
MAX_SLUG_CHARACTERS = 48

_REFERENCE = re.compile(
    r"https?://|\b(?:dashboards?|runbooks?|wiki|tracked in|documented (?:in|at)|lives (?:in|at)|can be found"
    r"|is found (?:in|at)|slack channel|issue tracker|link to)\b|(?:^|\s)#[a-z][\w-]+",
    re.IGNORECASE,
)
_FEEDBACK = re.compile(
    r"^\s*(?:please\s+)?(?:always|never|don'?t|do not|stop|avoid|use|write|keep|make sure|prefer)\b"
    r"|\b(?:from now on|you (?:should|must|need to)|instead of|remember to|when(?:ever)? you)\b"
    r"|[.;]\s+(?:always|never|don'?t|do not)\b",
    re.IGNORECASE,
)
_USER = re.compile(
    r"\b(?:I|I'?m|I'?ve|my|mine|me|(?:the )?user (?:is|has|likes|prefers|wants|works|knows|uses|lives|speaks)"
    r"|prefers?|likes?|favou?rite)\b",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(?:my|mine|the user'?s)\b", re.IGNORECASE)
_EVERYONE = re.compile(
    r"\b(?:everyone|everybody|all (?:contributors|developers|engineers)|contributors?|the team|our|we|"
    r"this (?:repo|repository|project|codebase))\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|[\u3002\uff01\uff1f]|\n")  # the escapes: CJK full stop, ! and ?
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def type_of(content: str, folders: Collection[Scope]) -> MemoryType:
    """Pick the type of a fact by its wording; in doubt the one that is at home in the folder."""
    if _REFERENCE.search(content):
        return "reference"
    if _FEEDBACK.search(content):
        return "feedback"
    if _USER.search(content) or "project" not in folders:
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
    return "user" if _PERSONAL.search(content) and not _EVERYONE.search(content) else "project"


def title_of(content: str) -> str:
    """First sentence of a fact on one line, cut at a word."""
    return _shorten(_first_sentence(content).rstrip("."), MAX_TITLE_CHARACTERS)


def description_of(content: str) -> str:
    """One line that tells what the fact is about."""
    return _shorten(" ".join(content.split()), MAX_DESCRIPTION_CHARACTERS)


def file_stem_of(content: str) -> str:
    """File name without suffix: lower-case ASCII words of the title with hyphens, or a hash of the fact.

    A title that is mostly in another script would leave a misleading rest, so it gets the hash too.
    """
    title = title_of(content)
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = _NOT_SLUG.sub("-", ascii_title.replace("'", "")).strip("-")
    letters = sum(character.isalnum() for character in title)
    if 2 * sum(character.isalnum() for character in words) <= letters:
        return f"memory-{content_hash(content)}"
    if len(words) <= MAX_SLUG_CHARACTERS:
        return words
    cut = words[: MAX_SLUG_CHARACTERS + 1]
    return cut[: cut.rfind("-")] if "-" in cut else cut[:MAX_SLUG_CHARACTERS]


def content_hash(content: str) -> str:
    """Eight hex digits that stand for this content."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _first_sentence(content: str) -> str:
    text = content.strip()
    first = _SENTENCE_END.split(text, maxsplit=1)[0]
    return " ".join(re.sub(r"^(?:[#>*-]+\s+)+", "", first).split()) or " ".join(text.split())


def _shorten(text: str, max_characters: int) -> str:
    if len(text) <= max_characters:
        return text
    cut = text[:max_characters]
    at_word = cut.rfind(" ")
    return (cut[:at_word] if at_word > max_characters // 2 else cut[: max_characters - 1]) + "…"
