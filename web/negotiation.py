"""Whether what a route answers with is among what the caller takes (RFC 9110, 12.5.1)."""

from collections.abc import Collection, Iterable
from typing import Final

from werkzeug.datastructures import MIMEAccept

JSON: Final = ("application/json", "application/problem+json")


def is_acceptable(accept: MIMEAccept, offered: Collection[str]) -> bool:
    """Whether one of the offered media types may be sent; without a wish, all may.

    Parameters such as a charset are not looked at: what differs by them only is taken for the same.
    """
    wishes = [(value.partition(";")[0].strip().lower(), quality) for value, quality in accept]
    return not wishes or any(_quality(wishes, media_type) > 0 for media_type in offered)


def _quality(wishes: Iterable[tuple[str, float]], media_type: str) -> float:
    """How much a media type is wanted: what names it closest decides, and of equals the kindest."""
    main = media_type.partition("/")[0]
    closeness = {media_type: 2, f"{main}/*": 1, "*/*": 0, "*": 0}
    named = [(closeness[wish], quality) for wish, quality in wishes if wish in closeness]
    return max(named, default=(0, 0.0))[1]
