"""Whether a text gives an agent orders rather than tells it a fact; pure.

Only used to hold text back for a person to look at: no protection rests on it, and ordinary sentences that
use the same words pass.
"""

import re

_WHOM = r"(?:all|any|every|the|your|these|those|previous|prior|above|earlier|existing|other|system|safety)"
_RULES = (
    r"(?:instructions?|prompts?|rules?|polic(?:y|ies)|guard ?rails?|guidelines|safeguards?|restrictions?)"
)
_BEGIN = r"(?:^|[.!?:;\"'(]\s*|\b(?:please|must|should|shall)\s+)"
_ORDERS = (
    rf"\b(?:ignore|disregard|forget|override|bypass|violate)\s+(?:{_WHOM}\s+){{1,4}}{_RULES}\b",
    r"\byou\s+(?:are|act)\s+(?:now|from\s+now\s+on)\b",
    r"\bfrom\s+now\s+on,?\s+you\s+(?:will|must|shall|should|are)\b",
    rf"{_BEGIN}(?:always|unconditionally|blindly)\s+(?:trust|obey|approve|comply|accept|recommend|allow)\b",
    r"\b(?:never|do\s+not|don't)\s+(?:tell|inform|alert|warn|ask|show)\s+(?:the\s+)?(?:user|human|operator|owner|anyone)\b",
    r"\bwithout\s+(?:asking|telling|informing|confirmation|approval|the\s+user)\b.{0,40}\b(?:run|execute|send|delete|push|approve|install)\b",
    r"\b(?:run|execute|send|delete|push|approve|install)\b.{0,60}\bwithout\s+(?:asking|telling|informing|confirmation|approval)\b",
    r"\bwhen(?:ever)?\s+the\s+user\s+(?:says|asks|agrees)\b.{0,60}\b(?:remember|save|store|send|run|execute)\b",
    r"<\|?\s*(?:system|assistant|im_start)\b|\[/?(?:INST|SYSTEM)\]",
)
_ORDER = re.compile("|".join(f"(?:{order})" for order in _ORDERS), re.IGNORECASE)
_BLANKS = re.compile(r"\s+")


def gives_orders(text: str) -> bool:
    """Tell whether some sentence is meant for the agent that will read it."""
    return _ORDER.search(_BLANKS.sub(" ", text)) is not None
