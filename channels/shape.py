"""The base of what channels exchange as JSON."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Shape(BaseModel):
    """Immutable, snake_case in code, camelCase in JSON; nothing unknown is accepted."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")

    def to_wire(self) -> dict[str, Any]:
        """Render for JSON; fields that are None are left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
