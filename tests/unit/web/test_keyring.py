import pytest

from core.clock import wall_ms
from tests.support.keyring import single_token
from web.keyring import Keyring, KnownToken, digest_of, owners_token
from web.principal import Principal

HOUR_MS = 3_600_000


def known(token: str, *, name: str = "ci", expires_ms: int | None = None) -> KnownToken:
    return KnownToken(digest_of(token.encode()), Principal(name), expires_ms)


def test_each_token_is_known_by_its_name() -> None:
    tokens = [owners_token("T"), known("A", name="ci"), known("B", name="desk")]

    keyring = Keyring(lambda: tokens)

    found = [keyring.find(token) for token in (b"T", b"A", b"B")]
    assert found == [Principal("default", "operator"), Principal("ci"), Principal("desk")]


@pytest.mark.parametrize("sent", [b"", b"t", b"TT", "\u0422".encode(), b"\xff", digest_of(b"T")])
def test_any_other_token_is_nobodys(sent: bytes) -> None:
    assert single_token("T").find(sent) is None


def test_a_token_is_good_until_it_expires() -> None:
    ours = [known("old", expires_ms=wall_ms() - 1), known("new", expires_ms=wall_ms() + HOUR_MS)]

    keyring = Keyring(lambda: ours)

    assert keyring.find(b"old") is None
    assert keyring.find(b"new") == Principal("ci")


def test_an_expired_entry_does_not_hide_a_good_one_of_the_same_token() -> None:
    ours = [known("A", name="old", expires_ms=1), known("A", name="new")]

    assert Keyring(lambda: ours).find(b"A") == Principal("new")


def test_what_is_known_may_change_at_any_time() -> None:
    ours: list[KnownToken] = []
    keyring = Keyring(lambda: ours)
    before = keyring.find(b"A")

    ours = [known("A")]

    assert (before, keyring.find(b"A")) == (None, Principal("ci"))


def test_every_known_token_is_compared_whichever_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []

    def compare(sent: bytes, digest: bytes) -> bool:
        compared.append(digest)
        return sent == digest

    monkeypatch.setattr("hmac.compare_digest", compare)
    ours = [known("A", name="first"), known("B"), known("C")]

    assert Keyring(lambda: ours).find(b"A") == Principal("first")

    assert compared == [one.digest for one in ours]
