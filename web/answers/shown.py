"""What all answers have in common: how a model is rendered and described."""

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema
from pydantic_core import core_schema

from core.text import encodable

Absent: TypeAlias = SkipJsonSchema[None]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]  # RFC 3339, UTC, milliseconds
Text = Annotated[str, BeforeValidator(encodable)]  # names of files need not be Unicode


@dataclass(frozen=True, slots=True)
class ShownAs:
    """Marks a field that is shown as it was stored: this is what it is described as."""

    shape: type[BaseModel]

    def __get_pydantic_json_schema__(
        self, _schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the field (pydantic's hook)."""
        return handler(self.shape.__pydantic_core_schema__)


class Shown(BaseModel):
    """Base of what is shown: camelCase names; a field that may be ``Absent`` is left out when it is None."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    @model_serializer(mode="wrap")
    def _leave_out(self, render: SerializerFunctionWrapHandler) -> dict[str, Any]:
        required = {field.alias for field in type(self).model_fields.values() if field.is_required()}
        shown: dict[str, Any] = render(self)
        return {name: value for name, value in shown.items() if value is not None or name in required}

    def to_wire(self) -> dict[str, Any]:
        """Render for JSON."""
        return self.model_dump(mode="json", by_alias=True)
