"""Holds what a service answers against what its OpenAPI document says it may."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from flask import Flask
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from core.settings import Settings
from core.workspaces import Workspaces
from jobs.oversight import Oversight
from tests.support.keyring import single_token
from web.app import WebParts, create_app
from web.interface.asyncapi import asyncapi_of
from web.interface.openapi import openapi_of
from web.problems import TRANSPORT
from web.route import routes_of
from web.target import parse_target

DOCUMENT = "urn:openapi"
CARRIED = frozenset({"content-type", "content-length", "date", "connection", "transfer-encoding", "server"})


@cache
def event_description() -> "Description":
    """What the application describes of its events."""
    return Description(json.loads(json.dumps(asyncapi_of(routes_of(idle_app()).values()))))


class Undescribed(AssertionError):
    """An answer that the document does not foresee."""


def idle_app() -> Flask:
    """The application, to be looked at and never asked for anything that needs its parts."""
    parts: dict[str, Any] = {field.name: SimpleNamespace() for field in fields(WebParts)}
    parts["oversight"] = SimpleNamespace(**{field.name: SimpleNamespace() for field in fields(Oversight)})
    parts["workspaces"] = Workspaces(["/"])
    return create_app(
        Settings(workspaces=("/",)), WebParts(**parts), keyring=single_token("T"), home=Path("/home/u")
    )


@cache
def description() -> "Description":
    """What the application describes."""
    return Description(json.loads(json.dumps(openapi_of(routes_of(idle_app()).values()))))


class Description:
    """An OpenAPI document, to hold answers against."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        resource = DRAFT202012.create_resource(document)
        self._registry: Registry[Any] = Registry().with_resource(DOCUMENT, resource)
        # a variable part may hold what another path has as its end
        templates = sorted(document.get("paths", ()), key=lambda path: (path.count("{"), -len(path)))
        self._patterns = [(_pattern(template), template) for template in templates]

    def check(self, method: str, target: str, *, status: int, headers: Mapping[str, str], raw: bytes) -> None:
        """Raise Undescribed unless the answer is one that the document lets expect.

        Args:
            headers: of the answer, names in small letters.
        """
        try:
            self._check(method, parse_target(target).path, status, headers, raw)
        except AssertionError as error:
            raise Undescribed(f"{method} {target}: {status} {raw[:300]!r}: {error}") from error

    def check_event(self, envelope: Any) -> None:
        """Raise Undescribed unless an event is one that an AsyncAPI document lets expect."""
        errors = self.errors_in(("components", "messages", envelope["type"], "payload"), envelope)
        if errors:
            raise Undescribed(f"{envelope}: {errors}")

    def operation(self, method: str, path: str) -> tuple[str, ...] | None:
        """Where in the document the operation stands that a request means."""
        for pattern, template in self._patterns:
            wanted = "get" if method == "HEAD" else method.lower()
            if pattern.fullmatch(path) and wanted in self.document["paths"][template]:
                return "paths", template, wanted
        return None

    def errors_in(self, place: tuple[str, ...], value: Any) -> list[str]:
        """What is wrong with a value, by the schema at a place."""
        return [error.message for error in _validator(self, place).iter_errors(value)]

    def _check(self, method: str, path: str, status: int, headers: Mapping[str, str], raw: bytes) -> None:
        operation = self.operation(method, path)
        if operation is None or status in {int(rule[0]) for rule in TRANSPORT.values()}:
            self._check_stray(method, status, headers, raw)
            return
        place = self._follow((*operation, "responses", str(status)))
        self._check_headers(place, headers)
        media = headers.get("content-type", "").partition(";")[0]
        contents = self._at(place).get("content", {})
        if not contents or method == "HEAD":
            assert raw == b"", "a body where none is described"
            return
        assert media in contents, f"{media} is not described"
        if media.endswith("json"):
            self._assert_valid((*place, "content", media, "schema"), json.loads(raw))

    def _check_stray(self, method: str, status: int, headers: Mapping[str, str], raw: bytes) -> None:
        if method == "OPTIONS" and status == 200:
            assert "allow" in headers
            return
        assert status >= 400, "an answer to a request that is not described"
        if method != "HEAD":
            self._assert_valid(("components", "schemas", "ShownProblem"), json.loads(raw))

    def _check_headers(self, place: tuple[str, ...], headers: Mapping[str, str]) -> None:
        described = self._at(place).get("headers", {})
        undescribed = headers.keys() - {name.lower() for name in described} - CARRIED
        assert not undescribed, f"headers {undescribed} are not described"
        for name in described:
            header = self._follow((*place, "headers", name))
            value = headers.get(name.lower())
            if value is None:
                assert not self._at(header).get("required"), f"header {name} is missing"
                continue
            is_number = self._at((*header, "schema")).get("type") == "integer"
            self._assert_valid((*header, "schema"), int(value) if is_number else value)

    def _assert_valid(self, place: tuple[str, ...], value: Any) -> None:
        errors = self.errors_in(place, value)
        assert not errors, errors

    def _follow(self, place: tuple[str, ...]) -> tuple[str, ...]:
        found = self._at(place)
        return tuple(found["$ref"].removeprefix("#/").split("/")) if "$ref" in found else place

    def _at(self, place: tuple[str, ...]) -> Any:
        found: Any = self.document
        for name in place:
            assert name in found, f"{name} is not described"
            found = found[name]
        return found

    def validator(self, place: tuple[str, ...]) -> Draft202012Validator:
        """A validator of the schema at a place."""
        return Draft202012Validator({"$ref": f"{DOCUMENT}#{_pointer(place)}"}, registry=self._registry)


@cache
def _validator(description: Description, place: tuple[str, ...]) -> Draft202012Validator:
    return description.validator(place)


def _pattern(template: str) -> re.Pattern[str]:
    def part(piece: str) -> str:
        return {"{path}": ".+"}.get(piece, "[^/]+") if piece.startswith("{") else re.escape(piece)

    return re.compile("".join(part(piece) for piece in re.split(r"({\w+})", template)) + "/?")


def _pointer(place: tuple[str, ...]) -> str:
    return "".join(f"/{name.replace('~', '~0').replace('/', '~1')}" for name in place)


def references_in(value: Any) -> Iterator[str]:
    """Every ``$ref`` below a value."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from references_in(one)
