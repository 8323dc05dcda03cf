import pytest
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from web.errors import InvalidIdempotencyKey
from web.idempotency import IDEMPOTENCY_HEADER, idempotency_key_of


def sent(*keys: str) -> Request:
    return Request(EnvironBuilder(headers=[(IDEMPOTENCY_HEADER, key) for key in keys]).get_environ())


def test_a_request_without_a_key_has_none() -> None:
    assert idempotency_key_of(sent(), "ada") is None


@pytest.mark.parametrize("key", ["k", '"8e03978e-40d5-43e8-bc93-6894a57f9324"', "a b~", "x" * 255])
def test_a_key_is_known_again_within_its_scope_only(key: str) -> None:
    digest = idempotency_key_of(sent(key), "ada", "", "remember")

    assert digest == idempotency_key_of(sent(key), "ada", "", "remember")
    assert digest != idempotency_key_of(sent(key), "bob", "", "remember")
    assert digest != idempotency_key_of(sent(key), "ada", "client_1", "remember")
    assert digest != idempotency_key_of(sent(key), "ada", "", "forget")
    assert len(digest or "") == 64


@pytest.mark.parametrize("key", ["", "x" * 256, "\u00e9", "a\tb", "a\x7fb"])
def test_what_can_be_no_key_is_refused(key: str) -> None:
    with pytest.raises(InvalidIdempotencyKey):
        idempotency_key_of(sent(key), "ada")
