"""``memlane channel``: the configuration, who is let in, and a chat at the terminal with the real agent."""

import json
import subprocess
import sys

import pytest

from channels.pairing import PairingStore
from tests.support.command_line import run
from tests.support.memlane_up import environment, running_memlane

GOOD = {"type": "telegram", "token": "123:abc", "allowedUsers": ["7"]}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home and a workspace, named by the environment; gives what writes the file of channels."""
    for name in ("home", "workspace", "memory"):
        (tmp_path / name).mkdir()
    for name in ("HOME", "WORKSPACES", "MEMORY_DIR"):
        folder = {"HOME": "home", "WORKSPACES": "workspace", "MEMORY_DIR": "memory"}[name]
        monkeypatch.setenv(f"MEMLANE_{name}", str(tmp_path / folder))

    def configured(**channels):
        (tmp_path / "home" / "channels.json").write_text(json.dumps({"channels": channels}))
        return tmp_path

    return configured


def test_a_good_configuration_is_said_to_be_so(place, capsys):
    place(team=GOOD)

    assert run("channel", "check") == 0
    assert capsys.readouterr().out == "nothing to complain of\n"


def test_each_finding_is_told_and_the_exit_code_says_that_there_are_some(place, capsys):
    place(team=GOOD | {"groupPolicy": "opne", "colour": "red"})

    assert run("channel", "check") == 1
    assert capsys.readouterr().out.splitlines() == [
        "error: channels.team.groupPolicy: 'opne' is none of disabled, allowlist, open; "
        "groups are not served",
        "warning: channels.team.colour: it is not known",
    ]


def test_a_key_that_is_written_amiss_is_told_as_it_should_be(place, capsys):
    place(team=GOOD | {"dispatchmode": "steer"})

    assert run("channel", "check") == 1
    assert (
        capsys.readouterr().out == "warning: channels.team.dispatchmode: it is not known; dispatchMode is\n"
    )


def test_a_folder_that_is_not_served_is_found_beside_all_other_faults(place, capsys):
    place(team=GOOD | {"cwd": "/srv/elsewhere", "dispatchMode": "queue"}, other=GOOD | {"cwd": 7})

    assert run("channel", "check") == 1
    assert [line.split(": ")[1] for line in capsys.readouterr().out.splitlines()] == [
        *("channels.team.dispatchMode", "channels.other.cwd", "channels.team.cwd"),
    ]


def test_findings_come_as_json(place, capsys):
    place(team=GOOD | {"cwd": "/srv/elsewhere"})

    assert run("channel", "check", "--json") == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["path"], finding["severity"]) == ("channels.team.cwd", "error")


@pytest.mark.parametrize("content", [None, "{", "- a\n- b: [", "\x00"])
def test_a_file_that_can_t_be_read_is_told(place, capsys, content):
    folder = place()
    path = folder / "home" / "channels.json"
    path.unlink()
    if content is not None:
        path.write_text(content)

    assert run("channel", "check") == 2
    assert str(path) in capsys.readouterr().err


def test_another_file_may_be_named_and_may_be_yaml(place, tmp_path, capsys):
    other = tmp_path / "mine.yaml"
    other.write_text("channels:\n  team:\n    type: telegram\n    token: 123:abc\n    allowedUsers: ['7']\n")

    assert run("channel", "check", "--channels-file", str(other)) == 0


def test_who_waits_is_listed_and_let_in(place, capsys):
    folder = place(team=GOOD | {"senderPolicy": "pairing"})
    store = PairingStore(folder / "home" / "pairing", workspace=str(folder / "workspace"), channel="team")
    request = store.request("u7", sender_name="Ann \x1b[31m")
    assert request is not None
    assert run("channel", "pairing", "list", "team") == 0
    shown = capsys.readouterr().out
    assert request.code in shown
    assert "\x1b" not in shown
    assert run("channel", "pairing", "approve", "team", request.code.lower()) == 0
    assert "may talk to team now" in capsys.readouterr().out

    assert run("channel", "pairing", "list", "team", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"pending": [], "approved": ["u7"]}


def test_who_was_let_in_is_shut_out_again(place, capsys):
    folder = place(team=GOOD)
    store = PairingStore(folder / "home" / "pairing", workspace=str(folder / "workspace"), channel="team")
    for person in ("u7", "u8"):
        asked = store.request(person, sender_name="Ann")
        assert asked is not None
        store.approve(asked.code)

    assert run("channel", "pairing", "revoke", "team", "u7") == 0
    assert capsys.readouterr().out == "u7 may talk to team no more\n"
    assert store.approved() == ("u8",)


@pytest.mark.parametrize(
    "words",
    [
        *(("approve", "team", "AAAAAAAA"), ("list", "nobody"), ("approve", "nobody", "A")),
        *(("revoke", "team", "u9"), ("revoke", "nobody", "u9")),
    ],
)
def test_a_code_or_channel_that_is_not_there_is_told(place, capsys, words):
    place(team=GOOD)

    assert run("channel", "pairing", *words) == 2
    assert capsys.readouterr().err.startswith("memlane: ")


def test_a_channel_in_which_nobody_waits_says_so(place, capsys):
    place(team=GOOD)

    assert run("channel", "pairing", "list", "team") == 0
    assert capsys.readouterr().out.startswith("nobody waits, nobody was let in")


def chat(folder, lines, *words, **changes):
    """What a chat at the terminal says to these lines."""
    named = {
        "MEMLANE_HOME": str(folder / "home"),
        "MEMLANE_WORKSPACES": str(folder / "workspace"),
        "MEMLANE_MEMORY_DIR": str(folder / "memory"),
    }
    done = subprocess.run(
        [sys.executable, "-P", "-m", "memlane", "channel", "chat", *words],
        input="".join(f"{line}\n" for line in lines),
        env=environment(folder, **named, **changes),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_at_the_terminal_commands_and_questions_are_answered(place):
    folder = place()
    said = chat(folder, ["/who", "", "hello there"])

    assert "Channel: terminal\nWorkspace: workspace\n" in said
    assert "Nothing in memory holds a word of the question." in said


def test_at_the_terminal_the_agent_is_not_asked_to_change_memory_where_no_service_runs(place):
    said = chat(place(), ["/remember I like tea", "/dream"])

    assert said.count("That was not taken: nothing runs here that changes memory; start memlane up") == 2


def test_at_the_terminal_a_channel_is_as_it_is_configured(place):
    folder = place(team=GOOD | {"identity": {"displayName": "Team bot"}})

    assert "Channel: team\nIdentity: Team bot\nMemory: channel:team\n" in chat(folder, ["/who"], "team")


@pytest.mark.usefixtures("unmeasured")
def test_at_the_terminal_memory_is_changed_through_the_lane_of_a_service_that_runs(tmp_path):
    with running_memlane(tmp_path):
        told = chat(tmp_path, ["/remember I like green tea"])
        revision = told.rpartition(" ")[2].strip()
        assert "To take this back: /undo r" in told
        undone = chat(tmp_path, [f"/undo {revision}", "/undo nothing"])

    assert "That was not taken: a revision id is r and a number" in undone
    assert undone.count("To take this back") == 1


def test_a_channel_that_is_not_configured_can_t_be_chatted_with(place, capsys):
    place(team=GOOD)

    assert run("channel", "chat", "nobody") == 2
    assert "there is no channel 'nobody'" in capsys.readouterr().err
