"""What chat services post: JSON objects."""

import json
from collections.abc import Mapping
from typing import Any

from channels.errors import InvalidMessage


def object_in(body: bytes) -> Mapping[str, Any]:
    """Read the object that a body holds.

    Raises:
        InvalidMessage: it holds none.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidMessage("the body is not JSON") from None
    if not isinstance(found, dict):
        raise InvalidMessage("the body is no object")
    return found
