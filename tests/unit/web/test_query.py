from typing import Any

import pytest
from werkzeug.datastructures import MultiDict

from core.errors import InputError
from web.errors import InvalidScope
from web.query import (
    AuditQuery,
    DocumentsQuery,
    ExportQuery,
    Query,
    RevisionsQuery,
    SearchQuery,
    TasksQuery,
    parse_query,
)


def parsed(shape: type[Query], *pairs: tuple[str, str]) -> dict[str, Any]:
    return parse_query(shape, MultiDict(pairs)).model_dump()


def test_defaults_fill_what_was_left_out() -> None:
    assert parsed(DocumentsQuery) == {"scope": None, "limit": 200, "review": "any", "cursor": ""}


def test_of_a_name_that_comes_twice_the_first_counts_and_unknown_ones_are_ignored() -> None:
    assert parsed(SearchQuery, ("q", " a "), ("q", "b"), ("x", "y"))["q"] == "a"


def test_all_scopes_are_meant_unless_one_is_named() -> None:
    assert parse_query(ExportQuery, MultiDict()).scopes == ("user", "project")
    assert parse_query(ExportQuery, MultiDict({"scope": "user"})).scopes == ("user",)


@pytest.mark.parametrize(
    ("shape", "query", "message"),
    [
        (DocumentsQuery, {"limit": "0"}, "`limit` must be a whole number from 1 to 1000"),
        (SearchQuery, {"q": "x", "limit": "101"}, "`limit` must be a whole number from 1 to 100"),
        (RevisionsQuery, {"limit": "+1"}, "`limit` must be a whole number from 1 to 200"),
        (RevisionsQuery, {"limit": "\u0661"}, "`limit` must be a whole number from 1 to 200"),
        (TasksQuery, {"limit": "201"}, "`limit` must be a whole number from 1 to 200"),
        (TasksQuery, {"cursor": "x"}, "`cursor` must be a whole number from 1 to 999999999"),
        (AuditQuery, {"limit": "0"}, "`limit` must be a whole number from 1 to 200"),
        (DocumentsQuery, {"review": ""}, "`review` must be one of any, waiting"),
        (ExportQuery, {"format": "rar"}, "`format` must be one of tar.gz, zip"),
        (TasksQuery, {"limit": "-1"}, "`limit` must be a whole number from 1 to 200"),
        (AuditQuery, {"limit": "201"}, "`limit` must be a whole number from 1 to 200"),
        (SearchQuery, {}, "`q` must be a text of 1 to 1000 characters"),
        (SearchQuery, {"q": "x" * 1_001}, "`q` must be a text of 1 to 1000 characters"),
    ],
)
def test_a_refusal_says_what_the_field_must_be(
    shape: type[Query], query: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError) as refused:
        parse_query(shape, MultiDict(query))

    assert (str(refused.value), refused.value.code) == (message, "invalid_request")


@pytest.mark.parametrize("query", [{"scope": "all"}, {"scope": ""}, {"path": "user/a.md"}])
def test_a_scope_that_is_none_or_missing_has_its_own_code(query: dict[str, str]) -> None:
    with pytest.raises(InvalidScope, match='`scope` must be "project", "user", or omitted'):
        parse_query(RevisionsQuery, MultiDict(query))
