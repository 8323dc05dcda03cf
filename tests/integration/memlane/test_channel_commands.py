"""`memlane channel`, without a service."""

import json
import subprocess
import sys

import pytest

from channels.pairing import PairingStore
from memlane.channels.host import PAIRING_FOLDER
from tests.support.command_line import run
from tests.support.memlane_up import environment


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A workspace whose channels are configured with a token that this shell does not have."""
    (tmp_path / "work").mkdir()
    (tmp_path / "memory").mkdir()
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMLANE_WORKSPACES", str(tmp_path / "work"))
    monkeypatch.delenv("MEMLANE_CHANNELS_FILE", raising=False)
    monkeypatch.delenv("UNSET", raising=False)
    (tmp_path / "home").mkdir()
    channels = {"team": {"type": "nothing", "token": "$UNSET", "senderPolicy": "pairing"}}
    (tmp_path / "home" / "channels.json").write_text(json.dumps({"channels": channels}))
    return tmp_path


@pytest.fixture
def waiting(place):
    """Somebody who asked to be let in."""
    store = PairingStore(place / "home" / PAIRING_FOLDER, workspace=str(place / "work"), channel="team")
    request = store.request("u7", sender_name="An\x1bn")
    assert request is not None
    return store, request


def test_who_waits_is_listed_where_the_channel_s_secrets_are_not_at_hand(waiting, capsys):
    _, request = waiting
    assert run("channel", "pairing", "list", "team") == 0

    assert capsys.readouterr().out.startswith(f"{request.code}  An n (u7)  asked ")


def test_who_waits_is_let_in(waiting, capsys):
    store, request = waiting
    assert run("channel", "pairing", "approve", "team", request.code.lower()) == 0

    assert capsys.readouterr().out == "An n (u7) may talk to team now\n"
    assert store.is_approved("u7")
    assert store.pending() == ()


def test_a_list_for_programs_has_who_waits_and_who_was_let_in(waiting, capsys):
    store, request = waiting
    store.approve(request.code)
    assert run("channel", "pairing", "list", "team", "--json") == 0

    assert json.loads(capsys.readouterr().out) == {"pending": [], "approved": ["u7"]}


def test_where_nobody_waits_it_is_said_which_workspace_that_is_of(place, capsys):
    assert run("channel", "pairing", "list", "team") == 0

    assert capsys.readouterr().out == f"nobody waits, nobody was let in (workspace {place / 'work'})\n"


@pytest.mark.parametrize("words", [("list", "nobody"), ("approve", "nobody", "ABCD2345")])
def test_a_channel_that_is_not_configured_has_no_pairing(place, capsys, words):
    assert run("channel", "pairing", *words) == 2

    assert "there is no channel 'nobody'" in capsys.readouterr().err
    assert not (place / "home" / PAIRING_FOLDER).exists()


def test_a_wrong_code_lets_nobody_in(waiting, capsys):
    store, request = waiting
    assert run("channel", "pairing", "approve", "team", "AAAAAAAA") == 2

    assert "no live request has this code" in capsys.readouterr().err
    assert store.pending() == (request,)
    assert store.approved() == ()


def test_the_check_tells_what_is_wrong_by_place(place, capsys):
    assert run("channel", "check", "--json") == 1

    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [(one["path"], one["severity"]) for one in findings] == [("channels.team.type", "error")]


def test_the_check_of_a_file_that_is_not_there_is_refused(place, capsys):
    assert run("channel", "check", "--channels-file", str(place / "none.json")) == 2

    assert "none.json" in capsys.readouterr().err


def chat(place, typed, *words):
    """What a chat at the terminal writes."""
    env = environment(place, MEMLANE_HOME=str(place / "home"), MEMLANE_MEMORY_DIR=str(place / "memory"))
    command = [sys.executable, "-P", "-m", "memlane", "channel", "chat", *words]
    done = subprocess.run(
        command,
        input=typed.encode(),
        capture_output=True,
        cwd=place / "work",
        env=env,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_chat_at_the_terminal_is_answered_by_the_agent_until_the_input_ends(place):
    status, said, _ = chat(place, "is there\x1b tea?\n/who\n")

    assert status == 0
    assert "Offline model: no language model is configured" in said
    assert "Channel: terminal\nWorkspace: work\nSession: " in said
    assert "\x1b" not in said


def test_a_chat_as_a_channel_that_is_not_configured_is_refused(place):
    (place / "home" / "channels.json").write_text('{"channels": {}}')
    status, said, told = chat(place, "hello\n", "team")

    assert (status, said) == (2, "")
    assert "there is no channel 'team'" in told
