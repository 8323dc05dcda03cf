from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from tests.support.description import Undescribed, description, idle_app, references_in
from web.interface.openapi import openapi_of
from web.interface.parameters import template_of
from web.interface.shapes import COMPONENTS
from web.problems import json_response
from web.route import Route, routes_of
from web.schemas import RememberBody, parse_body

DOCUMENT = description().document
ROUTES = tuple(routes_of(idle_app()).values())


def operations() -> Iterator[dict[str, Any]]:
    for path in DOCUMENT["paths"].values():
        yield from path.values()


def at(reference: str) -> Any:
    found: Any = DOCUMENT
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return found


def test_every_route_is_described_at_each_of_its_paths() -> None:
    described = {(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods}

    assert described == {
        (template_of(rule), route.method.lower()) for route in ROUTES for rule in route.rules
    }


def test_every_operation_has_an_id_of_its_own_and_says_what_it_does() -> None:
    ids = [operation["operationId"] for operation in operations()]

    assert len(ids) == len(set(ids))
    assert all(operation["summary"] for operation in operations())


def test_every_reference_leads_somewhere_and_every_component_is_referred_to() -> None:
    references = set(references_in(DOCUMENT))
    components = {
        f"{COMPONENTS}/{part}/{name}"
        for part in ("schemas", "responses")
        for name in DOCUMENT["components"][part]
    }

    assert all(at(reference) for reference in references)
    assert components <= references


def test_every_schema_is_one() -> None:
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_parameter_and_field_says_what_it_means() -> None:
    silent = {
        (operation["operationId"], parameter["name"])
        for operation in operations()
        for parameter in operation["parameters"]
        if not parameter["description"]
    }

    assert silent == set()


def test_only_what_is_open_asks_for_no_token() -> None:
    unlocked = {operation["operationId"] for operation in operations() if not operation["security"]}

    assert unlocked == {route.name for route in ROUTES if not route.asks_for_token}


def test_examples_are_valid() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    with_examples = {name: schema["examples"] for name, schema in schemas.items() if "examples" in schema}

    assert {"RememberBody", "ForgetBody", "TaskObject"} <= with_examples.keys()
    for name, examples in with_examples.items():
        for example in examples:
            assert description().errors_in(("components", "schemas", name), example) == []


@pytest.mark.parametrize(
    "body", [{"content": "x"}, {"content": "\u200b", "contextMode": None, "dryRun": None}]
)
def test_what_is_described_as_valid_is_taken(body: dict[str, Any]) -> None:
    assert description().errors_in(("components", "schemas", "RememberBody"), body) == []
    assert parse_body(RememberBody, body)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({}, "RememberBody"),
        ({"content": "\u00a0\ufeff\u0000"}, "RememberBody"),
        ({"content": "x", "scope": None}, "RememberBody"),
        ({"query": "x", "dryRun": True, "purge": True}, "ForgetBody"),
    ],
)
def test_what_is_refused_is_not_described_as_valid(body: dict[str, Any], name: str) -> None:
    assert description().errors_in(("components", "schemas", name), body) != []


class Animal(BaseModel):
    """An animal.

    Attributes:
        legs: how many.
    """

    legs: int


def test_a_model_is_described_in_the_words_of_its_docstring() -> None:
    def show() -> Any:
        """Show an animal.

        It is tame.
        """
        return json_response({"legs": 4})

    document = openapi_of(
        [Route(name="animal", method="GET", path="/animal", view=show, is_global=True, answer=Animal)]
    )

    operation = document["paths"]["/animal"]["get"]
    assert operation["description"] == "Show an animal.\n\nIt is tame."
    assert document["components"]["schemas"]["Animal"]["properties"]["legs"] == {
        "description": "how many.",
        "type": "integer",
    }


@pytest.mark.parametrize(
    ("method", "target", "status", "raw"),
    [
        ("GET", "/health", 200, b'{"status":"bad"}'),
        ("GET", "/health", 418, b"{}"),
        ("GET", "/health", 503, b'{"error":"x","code":"not_ready"}'),
        ("GET", "/nope", 200, b"{}"),
        ("HEAD", "/health", 200, b"{}"),
    ],
)
def test_an_answer_that_is_not_described_is_noticed(
    method: str, target: str, status: int, raw: bytes
) -> None:
    headers = {
        "content-type": "application/json",
        "x-request-id": "x",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }

    description().check("GET", "/health/", status=200, headers=headers, raw=b'{"status":"ok"}')
    with pytest.raises(Undescribed):
        description().check(method, target, status=status, headers=headers, raw=raw)
