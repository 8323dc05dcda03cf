import json
import os
import stat
import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from core.errors import ConfigError
from memlane.token_file import MAX_FILE_BYTES, StoredToken, TokenFile

MADE = datetime(2026, 1, 1, tzinfo=UTC)


def stored(name: str = "ci", **changes) -> StoredToken:
    facts = {"name": name, "sha256": "ab" * 32, "role": "client", "created": MADE}
    return StoredToken(**(facts | changes))


@pytest.fixture
def file(tmp_path) -> TokenFile:
    return TokenFile(tmp_path / "home" / "tokens.json")


def test_without_a_file_there_are_no_tokens(file):
    assert file.read() == ()
    assert file.state() is None
    assert not file.path.parent.exists()


def test_what_is_added_is_there_until_it_is_removed(file):
    desk = stored("desk", role="operator", workspaces=("/srv/a", "0123456789abcdef"), expires=MADE)

    file.add(stored())
    file.add(desk)
    assert file.read() == (stored(), desk)
    file.remove("ci")

    assert file.read() == (desk,)


def test_the_file_is_its_owners_alone_whatever_the_umask(file):
    old = os.umask(0)
    try:
        file.add(stored())
    finally:
        os.umask(old)

    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert sorted(one.name for one in file.path.parent.iterdir()) == [".tokens.json.lock", "tokens.json"]


def test_a_name_is_given_once(file):
    file.add(stored(role="client"))

    with pytest.raises(ConfigError, match="there is a token ci already"):
        file.add(stored(role="operator"))

    assert file.read() == (stored(role="client"),)


def test_a_name_that_is_not_there_can_not_be_removed(file):
    file.add(stored())

    with pytest.raises(ConfigError, match="there is no token desk"):
        file.remove("desk")

    assert file.read() == (stored(),)


def test_of_many_who_write_at_once_each_is_kept(file):
    threads = [threading.Thread(target=file.add, args=(stored(f"n{number}"),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {token.name for token in file.read()} == {f"n{number}" for number in range(8)}


def test_a_change_shows_in_the_state_a_reading_does_not(file):
    file.add(stored())
    before = file.state()
    file.read()
    assert file.state() == before

    file.remove("ci")

    assert file.state() != before


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path, file):
    file.add(stored())
    link = tmp_path / "tokens"
    link.symlink_to(file.path)

    TokenFile(link).add(stored("desk"))

    assert link.is_symlink()
    assert [token.name for token in file.read()] == ["ci", "desk"]


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_believed(file, mode):
    file.add(stored())
    file.path.chmod(mode)

    with pytest.raises(ConfigError, match=r"could be written by others.*chmod 600"):
        file.read()
    with pytest.raises(ConfigError):
        file.add(stored("desk"))

    assert "desk" not in file.path.read_text()


def test_what_is_no_file_is_refused_at_once(file):
    file.path.parent.mkdir()
    os.mkfifo(file.path, 0o600)

    with pytest.raises(ConfigError, match="is not a file"):
        file.read()


WHOLE: dict[str, Any] = {
    "name": "ci",
    "sha256": "ab" * 32,
    "role": "client",
    "created": "2026-01-01T00:00:00Z",
}
BROKEN: list[dict[str, Any]] = [
    {"name": "default"},
    {"name": "a b"},
    {"name": "a\n"},
    {"name": ""},
    {"sha256": "AB" * 32},
    {"sha256": "ab"},
    {"role": "admin"},
    {"workspaces": []},
    {"workspaces": ["relative"]},
    {"created": "2026-01-01"},
    {"expires": "soon"},
    {"token": "a-secret"},
]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"version": 2}',
        '{"tokens": [], "more": 1}',
        " " * (MAX_FILE_BYTES + 1),
        json.dumps({"tokens": [WHOLE, WHOLE]}),
        *(json.dumps({"tokens": [WHOLE | changes]}) for changes in BROKEN),
    ],
)
def test_a_malformed_file_is_refused_without_showing_what_it_holds(file, text):
    file.path.parent.mkdir()
    file.path.write_text(text)
    file.path.chmod(0o600)

    with pytest.raises(ConfigError) as caught:
        file.read()

    assert str(file.path) in str(caught.value)
    assert "a-secret" not in str(caught.value)
    assert "ab" * 32 not in str(caught.value)
