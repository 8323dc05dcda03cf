"""Schemas of the models that validate and render, as components that a description refers to."""

from collections import ChainMap
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from web.interface.docstrings import docstring_of

COMPONENTS = "#/components"  # where they stand in a description

Schema = Mapping[str, Any]


class Shapes:
    """Schemas of some models and of what they are made of, each once.

    Attributes:
        components: by name, as they stand in a description.
    """

    def __init__(self, models: Iterable[type[BaseModel]]) -> None:
        wanted = sorted(set(models), key=lambda model: model.__name__)
        references, schemas = models_json_schema(
            [(model, "validation") for model in wanted],
            ref_template=COMPONENTS + "/schemas/{model}",
            schema_generator=_Generator,
        )
        self._references = {model: schema for (model, _), schema in references.items()}
        self.components: Mapping[str, Schema] = schemas.get("$defs", {})

    def reference(self, model: type[BaseModel]) -> Schema:
        """Refer to a model's schema."""
        return self._references[model]


def schema_of(model: type[BaseModel]) -> Schema:
    """The schema of one model, with what it is made of inside."""
    return model.model_json_schema(schema_generator=_Generator)


class _Generator(GenerateJsonSchema):
    """Describes fields in the words of the model's docstring, and omits what says nothing."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        described = super().model_schema(schema)
        model = schema["cls"]
        described["description"] = docstring_of(model).text
        said = ChainMap(*(dict(docstring_of(base).attributes) for base in model.__mro__))
        for name, field in model.model_fields.items():
            place = described.get("properties", {}).get(field.alias or name)
            if place is not None and name in said:
                place["description"] = said[name]
        return described

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if described.get("default", "") is None:
            del described["default"]  # it means "left out", and null may not even be allowed
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's hook
        return False
