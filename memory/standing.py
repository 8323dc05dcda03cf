"""Whether a memory still holds and may be shown: its ``expires`` and ``review`` fields; pure."""

from datetime import UTC, date, datetime, timedelta

from memory.document import Document, parse_document
from memory.frontmatter import one_line

REVIEW_FIELD = "review"
_DATE_CHARS = len("2026-01-31")


def expiry_ms(document: Document) -> int | None:
    """When a memory stops to hold, epoch milliseconds; None when it says nothing, or nothing readable.

    A date alone holds to its end, a time without a zone is UTC (``expires`` is RFC 3339).
    """
    text = one_line(document.extra.get("expires"))
    try:
        if len(text) == _DATE_CHARS:
            day = date.fromisoformat(text) + timedelta(days=1)
            moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
        else:
            moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def is_expired(document: Document, *, now_ms: int) -> bool:
    """Tell whether a memory's ``expires`` has passed; one that can't be read never does."""
    expires_ms = expiry_ms(document)
    return expires_ms is not None and expires_ms <= now_ms


def is_under_review(document: Document) -> bool:
    """Tell whether a memory waits for a person's approval (``review: true``)."""
    return one_line(document.extra.get(REVIEW_FIELD)).lower() == "true"


def waits_for_review(content: bytes | None) -> bool:
    """Tell whether these bytes are a memory that waits for a person's approval."""
    document = parse_document(content) if content is not None else None
    return document is not None and is_under_review(document)
