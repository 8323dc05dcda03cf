"""In which media type a caller takes its answer (RFC 9110, 12.5.1)."""

from collections.abc import Collection, Iterable
from typing import Final

from werkzeug.datastructures import MIMEAccept

JSON_MEDIA: Final = "application/json"
PROBLEM_MEDIA: Final = "application/problem+json"
JSON: Final = (JSON_MEDIA, PROBLEM_MEDIA)


def is_acceptable(accept: MIMEAccept, offered: Collection[str]) -> bool:
    """Whether one of the offered media types may be sent; without a wish, all may.

    Parameters such as a charset are not looked at: what differs by them only is taken for the same.
    """
    wishes = [(value.partition(";")[0].strip().lower(), quality) for value, quality in accept]
    return not wishes or any(_quality(wishes, media_type) > 0 for media_type in offered)


def prefers_problem(accept: MIMEAccept) -> bool:
    """Whether a refusal is wanted in the words of RFC 9457: asked for by name, no less than plain JSON."""
    asked = any(value.lower() == PROBLEM_MEDIA for value in accept.values())
    return asked and accept[PROBLEM_MEDIA] > 0 and accept[PROBLEM_MEDIA] >= accept[JSON_MEDIA]


def _quality(wishes: Iterable[tuple[str, float]], media_type: str) -> float:
    """How much a media type is wanted: what names it closest decides, and of equals the kindest."""
    main = media_type.partition("/")[0]
    closeness = {media_type: 2, f"{main}/*": 1, "*/*": 0, "*": 0}
    named = [(closeness[wish], quality) for wish, quality in wishes if wish in closeness]
    return max(named, default=(0, 0.0))[1]
