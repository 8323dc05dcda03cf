"""What a route can be refused with, by status: from its declaration and from the table of errors."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from core.errors import InputError, MemlaneError
from events.errors import StorageUnavailable
from jobs.errors import RateLimitExceeded
from web import errors
from web.answers.problems import ProblemDetails, ShownProblem
from web.interface.docstrings import docstring_of
from web.interface.headers import references_to
from web.interface.parameters import refusals_of_parameters
from web.interface.shapes import Shapes
from web.negotiation import JSON_MEDIA, PROBLEM_MEDIA
from web.problems import FRAMEWORK_CODES, rule_of
from web.route import Route
from web.schemas import REFUSALS
from web.throttle import SAFE_METHODS

_AT_THE_DOOR = (errors.HostRefused, errors.OriginRefused, MemlaneError)
_BEHIND_THE_DOOR = (
    errors.Unauthorized,
    errors.Forbidden,
    errors.NotAcceptable,
    InputError,
    errors.BodyTimeout,
    errors.PayloadTooLarge,
    errors.UnsupportedMediaType,
    StorageUnavailable,
)
MAX_SHARED_CODES = 2
_FRAMEWORK = {404: "There is no such route.", 405: "The route has no such method."}


@dataclass(slots=True)
class Refused:
    """How requests are refused with one status.

    Attributes:
        codes: what each code means.
        headers: with how many of the codes a header comes.
    """

    codes: dict[str, str] = field(default_factory=dict)
    headers: Counter[str] = field(default_factory=Counter)

    @property
    def shared_name(self) -> str | None:
        """The name under which many routes refer to the same description; None if few would."""
        return "_or_".join(sorted(self.codes)) if len(self.codes) <= MAX_SHARED_CODES else None

    def add(self, kind: type[MemlaneError]) -> None:
        """Count an error in that is answered with this status."""
        if kind.code not in self.codes:
            self.codes[kind.code] = docstring_of(kind).summary
            self.headers.update(rule_of(kind).headers.keys())


def refused_of(route: Route, rule: str) -> Mapping[int, Refused]:
    """Everything that requests by this rule can be refused with."""
    refused: dict[int, Refused] = defaultdict(Refused)
    for kind in _kinds(route, rule):
        refused[int(rule_of(kind).status)].add(kind)
    for status, meaning in _FRAMEWORK.items():
        refused[status].codes[FRAMEWORK_CODES[status]] = meaning
    refused[405].headers["Allow"] = 1
    return dict(sorted(refused.items()))


def _kinds(route: Route, rule: str) -> Iterator[type[MemlaneError]]:
    yield from _AT_THE_DOOR
    if route.asks_for_token:
        yield from _BEHIND_THE_DOOR
        if route.method not in SAFE_METHODS:
            yield RateLimitExceeded
    yield from refusals_of_parameters(route, rule)
    if route.body is not None:
        names = {field.alias or name for name, field in route.body.model_fields.items()}
        yield from (kind for kind in REFUSALS if kind.field in names)
    yield from route.refusals


def describe_refused(status: int, refused: Refused, shapes: Shapes) -> dict[str, Any]:
    """Describe the answers of one status."""
    meanings = [f"- `{code}`: {meaning}" for code, meaning in sorted(refused.codes.items())]
    narrowed = {"properties": {"code": {"enum": sorted(refused.codes)}}}
    return {
        "description": "\n".join([HTTPStatus(status).phrase, "", *meanings]),
        "headers": references_to(
            {name: count == len(refused.codes) for name, count in refused.headers.items()}
        ),
        "content": {
            media: {"schema": {"allOf": [shapes.reference(model), narrowed]}}
            for media, model in ((JSON_MEDIA, ShownProblem), (PROBLEM_MEDIA, ProblemDetails))
        },
    }
