"""`memlane token`."""

import json

import pytest

from memlane.token_file import TokenFile
from tests.support.command_line import run
from web.keyring import digest_of


@pytest.fixture
def file(tmp_path, monkeypatch) -> TokenFile:
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MEMLANE_TOKENS_FILE", raising=False)
    return TokenFile(tmp_path / "home" / "tokens.json")


def test_a_new_token_is_printed_once_and_only_its_digest_is_kept(file, capsys):
    assert run("token", "new", "ci", "--role", "client", "--expires", "90d") == 0

    shown = capsys.readouterr()
    token = shown.out.strip()
    assert len(token) == 43
    assert token not in shown.err
    assert "ci  client  all workspaces" in shown.err
    assert token not in file.path.read_text()
    (kept,) = file.read()
    assert kept.sha256 == digest_of(token.encode()).hex()
    assert (kept.expires - kept.created).days == 90


def test_json_tells_the_token_and_what_it_is_good_for(file, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["--role", "operator", "--workspace", "a", "--workspace", "0123456789abcdef"]

    assert run("token", "new", "desk", *words, "--json", "--tokens-file", str(tmp_path / "named")) == 0

    told = json.loads(capsys.readouterr().out)
    assert told["role"] == "operator"
    assert told["workspaces"] == [str(tmp_path / "a"), "0123456789abcdef"]
    assert told["file"] == str(tmp_path / "named")
    assert told["token"]
    assert not file.path.exists()


def test_a_list_shows_no_digest(file, capsys):
    run("token", "list")
    run("token", "new", "ci", "--role", "client", "--expires", "2999-01-01")
    (kept,) = file.read()
    run("token", "list")
    run("token", "list", "--json")

    out = capsys.readouterr().out
    assert out.startswith("there are no named tokens\n")
    assert "expires 2999-01-01 00:00 UTC" in out
    assert json.loads(out.splitlines()[-1])["tokens"][0]["expired"] is False
    assert kept.sha256 not in out


def test_a_revoked_token_is_gone(file, capsys):
    run("token", "new", "ci", "--role", "client")

    assert run("token", "revoke", "ci") == 0

    assert file.read() == ()
    assert capsys.readouterr().out.endswith("ci is revoked\n")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["new", "default", "--role", "client"], "default is the token that the service is started with"),
        (["new", "a b", "--role", "client"], "name: "),
        (["new", "ci", "--role", "client"], "there is a token ci already"),
        (["new", "x", "--role", "client", "--expires", "2020-01-01"], "has passed already"),
        (["new", "x", "--role", "client", "--expires", "0s"], "has passed already"),
        (["new", "x", "--role", "client", "--expires", "soon"], "neither a time from now"),
        (["new", "x", "--role", "client", "--expires", "999999999d"], "neither a time from now"),
        (["new", "x", "--role", "admin"], "admin"),
        (["new", "x"], "--role"),
        (["revoke", "x"], "there is no token x"),
    ],
)
def test_what_can_not_be_done_is_told_and_changes_nothing(file, capsys, words, complaint):
    run("token", "new", "ci", "--role", "client")
    before = file.path.read_bytes()

    assert run("token", *words) == 2

    assert complaint in capsys.readouterr().err
    assert file.path.read_bytes() == before
