"""How the store's records look in their JSON files."""

import base64
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer


class Record(BaseModel):
    """Base of what the store keeps as JSON: strict, frozen, no unknown fields."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    def to_json(self) -> bytes:
        """The record as its file holds it."""
        return self.model_dump_json().encode()


def _write_content(content: bytes) -> str | dict[str, str]:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}


def _read_content(value: Any) -> Any:
    match value:
        case str():
            return value.encode()
        case {"base64": str(text)}:
            return base64.b64decode(text, validate=True)
    return value


Content = Annotated[bytes, BeforeValidator(_read_content), PlainSerializer(_write_content)]
"""A document's bytes: text in JSON, so that people can read it, and base64 only where it is not UTF-8."""
