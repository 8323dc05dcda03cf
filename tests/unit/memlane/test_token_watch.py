import os
from datetime import UTC, datetime

import pytest
import structlog

from core.errors import ConfigError
from core.ids import WorkspaceId, workspace_id
from core.settings import Settings
from memlane.token_file import StoredToken, TokenFile
from memlane.token_watch import WatchedTokens, open_keyring
from web.keyring import digest_of, owners_token
from web.principal import Principal

MADE = datetime(2026, 1, 1, tzinfo=UTC)


def stored(token: str, name: str, **changes) -> StoredToken:
    facts = {"name": name, "sha256": digest_of(token.encode()).hex(), "role": "client", "created": MADE}
    return StoredToken(**(facts | changes))


@pytest.fixture
def file(tmp_path) -> TokenFile:
    return TokenFile(tmp_path / "tokens.json")


def names(tokens: WatchedTokens) -> list[str]:
    return [known.principal.id for known in tokens.current()]


def test_tokens_come_and_go_with_the_file(file):
    tokens = WatchedTokens(file, owners_token("T"))
    seen = [names(tokens)]

    for change in (
        lambda: file.add(stored("A", "ci")),
        lambda: file.add(stored("B", "desk")),
        lambda: file.remove("ci"),
        file.path.unlink,
    ):
        change()
        seen.append(names(tokens))

    assert seen == [
        ["default"],
        ["default", "ci"],
        ["default", "ci", "desk"],
        ["default", "desk"],
        ["default"],
    ]


def test_what_the_file_says_of_a_token_is_what_it_is_good_for(file, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    file.add(stored("A", "ci", workspaces=(str(tmp_path / "link"), "0123456789abcdef"), expires=MADE))

    (known,) = WatchedTokens(file, None).current()

    real = workspace_id(os.path.realpath(tmp_path / "real"))
    assert known.principal == Principal("ci", "client", frozenset({real, WorkspaceId("0123456789abcdef")}))
    assert known.digest == digest_of(b"A")
    assert known.expires_ms == int(MADE.timestamp() * 1000)


@pytest.mark.parametrize("damage", ["{", '{"version": 2}'])
def test_a_file_that_breaks_keeps_what_was_known_and_is_logged_once(file, damage):
    file.add(stored("A", "ci"))
    tokens = WatchedTokens(file, owners_token("T"))
    file.path.write_text(damage)

    with structlog.testing.capture_logs() as logs:
        seen = [names(tokens), names(tokens)]

    assert seen == [["default", "ci"]] * 2
    assert [one["event"] for one in logs] == ["tokens_file_unusable"]


def test_a_file_that_others_may_write_changes_nothing_until_it_is_mended(file):
    tokens = WatchedTokens(file, None)
    file.add(stored("A", "ci"))
    file.path.chmod(0o666)
    assert names(tokens) == []

    file.path.chmod(0o600)

    assert names(tokens) == ["ci"]


def test_without_any_token_there_is_no_start(tmp_path):
    with pytest.raises(ConfigError, match="there is no token; set MEMLANE_TOKEN"):
        open_keyring(Settings(home=tmp_path))


def test_a_named_token_is_enough_for_a_start(tmp_path):
    settings = Settings(home=tmp_path)
    TokenFile(settings.tokens_path).add(stored("A", "ci", role="operator"))

    keyring = open_keyring(settings)

    assert keyring.find(b"A") == Principal("ci", "operator")


def test_the_token_of_the_home_and_the_named_ones_are_good(tmp_path):
    settings = Settings(home=tmp_path, tokens_file=tmp_path / "named")
    (tmp_path / "token").write_text("T")
    TokenFile(settings.tokens_path).add(stored("A", "ci"))

    keyring = open_keyring(settings)

    assert [keyring.find(token) for token in (b"T", b"A", b"B")] == [
        Principal("default", "operator"),
        Principal("ci"),
        None,
    ]


def test_a_broken_file_at_the_start_is_told(tmp_path):
    (tmp_path / "token").write_text("T")
    (tmp_path / "tokens.json").write_text("{")

    with pytest.raises(ConfigError, match=r"tokens\.json"):
        open_keyring(Settings(home=tmp_path))
