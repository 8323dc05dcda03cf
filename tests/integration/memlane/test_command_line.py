import io
import json
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from core.errors import DependencyError, InputError, MemlaneError, StateError
from core.version import own_version
from memlane.cli.exits import Exit, complaint_of, exit_of
from memlane.errors import MemlaneApiError, NotFound, QueueFull, Unavailable, Unreachable, WaitTimeout
from memlane.models import Task
from memlane.supervisor import PartRefused
from tests.support.command_line import DONE, FAILED, QUEUED, run
from tests.support.scripted_service import Reply, scripted_service


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("MEMLANE_TOKEN", "secret")


def test_remember_says_that_the_task_is_queued(capsys):
    with scripted_service([Reply(202, QUEUED)]) as service:
        status = run("remember", "hello", "--url", service.url, "--scope", "user", "--clean")

    assert status == 0
    assert capsys.readouterr().out == f"{QUEUED['taskId']} is queued, position 1\n"
    assert json.loads(service.requests[0].body) == {
        "content": "hello",
        "scope": "user",
        "contextMode": "clean",
    }


def test_remember_waits_and_shows_summary_and_files_without_what_steers_a_terminal(capsys):
    with scripted_service([Reply(202, QUEUED), Reply(200, DONE)]) as service:
        status = run("remember", "hello", "--url", service.url, "--wait")

    shown = capsys.readouterr()
    assert status == 0
    assert shown.out == "Saved  [31mit.\n  ~/.qwen/a.md\n  ~/.qwen/b.md\n"
    assert shown.err.splitlines() == [
        f"{QUEUED['taskId']} is queued, position 1",
        f"{QUEUED['taskId']} is completed",
    ]


FORGOTTEN = {
    "summary": "Managed auto-memory forgot 1 entry from: user/",
    "removedEntries": [{"topic": "user", "summary": "Likes tea", "filePath": "~/.qwen/a.md"}],
}
DIFF = {
    "scope": "user",
    "path": "a.md",
    "change": "deleted",
    "diff": "--- a.md\n+++ /dev/null\n-tea \x1b[31m\n",
}


def test_forget_shows_what_was_removed(capsys):
    done = DONE | {"result": FORGOTTEN}
    with scripted_service([Reply(202, done)]) as service:
        assert run("forget", "tea", "--url", service.url) == 0

    assert capsys.readouterr().out.splitlines() == [FORGOTTEN["summary"], "  Likes tea (~/.qwen/a.md)"]


def test_a_dry_run_shows_what_would_change_and_how_to_have_it_done(capsys):
    done = DONE | {"result": {"summary": "Would forget.", "preview": {"diff": [DIFF]}}}
    with scripted_service([Reply(202, done)]) as service:
        assert run("forget", "tea", "--dry-run", "--url", service.url) == 0

    assert json.loads(service.requests[0].body) == {"query": "tea", "dryRun": True}
    shown = capsys.readouterr().out
    assert "deleted user: a.md\n--- a.md\n+++ /dev/null\n-tea  [31m\n" in shown
    assert shown.endswith(f"Nothing has changed. To have it done: memlane apply {DONE['taskId']}\n")


def test_a_dry_run_that_would_change_nothing_offers_nothing(capsys):
    done = DONE | {"result": {"summary": "Nothing to do.", "preview": {"diff": []}}}
    with scripted_service([Reply(202, done)]) as service:
        assert run("dream", "--dry-run", "--url", service.url) == 0

    assert capsys.readouterr().out == "Nothing to do.\n"


def test_apply_asks_for_the_preview_to_be_committed(capsys):
    with scripted_service([Reply(202, QUEUED)]) as service:
        assert run("apply", "forget-1", "--url", service.url) == 0

    assert service.requests[0].path == "/workspace/memory/forget/forget-1/apply"


def test_a_terminal_gets_a_spinner(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with scripted_service([Reply(202, QUEUED), Reply(200, DONE)]) as service:
        status = run("remember", "hello", "--url", service.url, "--wait")

    assert status == 0
    assert capsys.readouterr().out.startswith("Saved")


def test_a_failed_task_is_exit_code_1(capsys):
    with scripted_service([Reply(202, QUEUED), Reply(200, FAILED)]) as service:
        status = run("remember", "hello", "--url", service.url, "--wait")

    shown = capsys.readouterr()
    assert (status, shown.out) == (1, "")
    assert shown.err.endswith("failed (remember_timeout): Too slow.\n")


def test_json_is_one_line_whatever_happened(capsys):
    with scripted_service([Reply(202, QUEUED), Reply(200, FAILED)]) as service:
        status = run("remember", "hello", "--url", service.url, "--wait", "--json")

    shown = capsys.readouterr()
    assert status == 1
    assert json.loads(shown.out)["error"]["code"] == "remember_timeout"
    assert shown.out.count("\n") == 1


def test_a_task_that_does_not_end_in_time_is_exit_code_1(capsys):
    with scripted_service([Reply(202, QUEUED)]) as service:
        status = run("remember", "hello", "--url", service.url, "--wait", "--timeout", "0")

    assert status == 1
    assert "is still queued" in capsys.readouterr().err


def test_text_can_come_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"f\xc3\xbcr sp\xc3\xa4ter\n\xff")))
    with scripted_service([Reply(202, QUEUED)]) as service:
        assert run("remember", "-", "--url", service.url) == 0

    assert json.loads(service.requests[0].body)["content"] == "für später\n�"


def test_a_token_file_wins(tmp_path):
    (tmp_path / "token").write_text("from-file\n")
    with scripted_service([Reply(202, QUEUED)]) as service:
        run("remember", "hello", "--url", service.url, "--token-file", str(tmp_path / "token"))

    assert service.requests[0].headers["Authorization"] == "Bearer from-file"


def test_a_missing_token_file_is_exit_code_2(tmp_path, capsys):
    status = run("remember", "hello", "--token-file", str(tmp_path / "missing"))

    assert status == 2
    assert capsys.readouterr().err == f"memlane: there is no token file {tmp_path}/missing\n"


def test_a_service_that_is_away_is_exit_code_3(capsys):
    with scripted_service([Reply()]) as service:
        url = service.url

    assert run("remember", "hello", "--url", url) == 3
    assert capsys.readouterr().err.startswith(f"memlane: no memlane answers at {url}; start one")


def test_a_refusal_is_exit_code_2(capsys):
    with scripted_service([Reply(401, {"error": "Unauthorized", "code": "unauthorized"})]) as service:
        assert run("remember", "hello", "--url", service.url) == 2

    assert capsys.readouterr().err == (
        f"memlane: {service.url} refused the token in MEMLANE_TOKEN; name its token file with --token-file\n"
    )


def test_a_missing_token_is_told_with_where_it_was_looked_for(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("MEMLANE_TOKEN")
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path))
    with scripted_service([Reply(401, {"error": "Unauthorized"})]) as service:
        assert run("remember", "hello", "--url", service.url) == 2

    assert f"wants a token, and there is none in {tmp_path}/token" in capsys.readouterr().err


def test_a_relative_workspace_starts_at_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with scripted_service([Reply(202, QUEUED)]) as service:
        run("remember", "hello", "--url", service.url, "--workspace", "b")
        run("remember", "hello", "--url", service.url, "--workspace", "0295621f3cf988a7")

    named = [unquote(seen.path.split("/")[2]) for seen in service.requests]
    assert named == [f"{tmp_path}/b", "0295621f3cf988a7"]


def test_an_unknown_workspace_is_told_with_what_is_served(capsys):
    refusal = Reply(400, {"error": "Workspace mismatch", "code": "workspace_mismatch"})
    served = Reply(200, {"workspaces": [{"id": "a", "cwd": "/srv/a"}, {"id": "b", "cwd": "/srv/b"}]})
    with scripted_service([refusal, served]) as service:
        assert run("remember", "hello", "--url", service.url, "--workspace", "/c") == 2

    assert capsys.readouterr().err.endswith("does not serve /c; it serves /srv/a, /srv/b\n")


def test_another_refusal_is_told_as_it_came(capsys):
    with scripted_service([Reply(400, {"error": "No", "code": "invalid_content"})]) as service:
        assert run("remember", "hello", "--url", service.url) == 2

    assert capsys.readouterr().err == "memlane: No\n"


def test_bytes_that_are_no_text_are_replaced():
    with scripted_service([Reply(202, QUEUED)]) as service:
        assert run("remember", "bad \udcff\udcfe bytes", "--url", service.url) == 0

    assert json.loads(service.requests[0].body)["content"] == "bad \ufffd\ufffd bytes"


def test_an_interrupted_wait_leaves_the_task_behind(capsys, monkeypatch):
    def interrupted(*_: object, **arguments: Any) -> None:
        arguments["on_change"](Task.model_validate(QUEUED | {"status": "running", "position": None}))
        raise KeyboardInterrupt

    monkeypatch.setattr("memlane.client.Client.wait", interrupted)
    with scripted_service([Reply(202, QUEUED)]) as service:
        assert run("remember", "hello", "--url", service.url, "--wait") == 130

    assert f"still running: {QUEUED['taskId']}\n" in capsys.readouterr().err


def test_an_interrupt_is_exit_code_130(monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("memlane.client.Client.remember", interrupted)
    monkeypatch.setattr("memlane.cli.agent.run", interrupted)

    assert run("remember", "hello") == 130
    assert run("agent") == 130


@pytest.mark.parametrize(
    "words",
    [
        ("remember",),
        ("remember", "x", "--scope", "moon"),
        ("remember", "x", "--timeout", "3"),
        ("remember", "x", "--wait", "--timeout", "nan"),
        ("up", "--nope"),
        ("up", "--port", "-1"),
        ("fly",),
    ],
)
def test_wrong_usage_is_exit_code_2(words, capsys):
    assert run(*words) == 2
    assert "Usage: memlane" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("up", "--port", "99999"), "--port: 99999 must be at most 65535"),
        (("web", "--port", "99999"), "--port: 99999 must be at most 65535"),
        (("up", "--workspace", ""), "--workspace: it is empty"),
        (("up", "--memory-dir", " "), "--memory-dir: it is empty"),
        (("remember", "x", "--timeout", "3"), "--timeout: it needs --wait"),
        (("remember", "--dark mode"), 'memlane remember -- "TEXT"'),
        (("remember", "I", "like", "it"), 'memlane remember "TEXT"'),
    ],
)
def test_wrong_usage_names_the_option_and_the_way_out(words, complaint, capsys):
    assert run(*words) == 2
    assert complaint in capsys.readouterr().err


def test_a_token_that_can_not_be_sent_is_told_by_its_option(capsys):
    assert run("up", "--token", "two words") == 2
    assert capsys.readouterr().err.startswith("memlane: the token in --token must be")


def test_the_version_is_told(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"memlane {own_version()}\n"


COMMANDS = ("up", "remember", "get", "events", "doctor", "web", "worker", "agent")


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS)])
def test_help_is_at_hand_in_plain_words(words, flag, capsys):
    assert run(*words, flag) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("Usage: memlane")
    assert not any(jargon in shown for jargon in ("<str>", "<path>", "<float>", "<int>", "list["))
    assert not re.search(r"\w\.\.\.\n", shown)  # a description that was cut


def test_without_a_command_help_is_shown(capsys):
    run()

    shown = capsys.readouterr()
    assert "Usage: memlane" in shown.out + shown.err


@pytest.mark.parametrize("part", ["web", "worker", "agent"])
def test_a_part_that_is_misconfigured_says_so_in_one_line(part, tmp_path):
    environment = {"PATH": "/bin", "HOME": str(tmp_path), "MEMLANE_THREADS": "none"}

    answer = subprocess.run(
        [sys.executable, "-P", "-m", "memlane", part],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == 2
    assert answer.stderr.startswith("memlane: MEMLANE_THREADS: ")
    assert answer.stderr.count("\n") == 1


def test_a_model_setting_that_can_not_be_read_is_one_line(tmp_path):
    environment = {"PATH": "/bin", "HOME": str(tmp_path), "MEMLANE_MODEL_TIMEOUT_S": "abc"}

    answer = subprocess.run(
        [sys.executable, "-P", "-m", "memlane", "agent"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == 2
    assert answer.stderr.startswith("memlane: MEMLANE_MODEL_TIMEOUT_S: ")
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [("web", "--port", "0"), ("worker", "--help"), ("agent", "--help")])
def test_parts_are_commands_for_people_too(words, tmp_path):
    environment = {"PATH": "/bin", "HOME": str(tmp_path)}

    answer = subprocess.run(
        [sys.executable, "-P", "-m", "memlane", *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "no workspace is configured" in answer.stderr or "Usage: memlane" in answer.stdout


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("x"), Exit.USAGE),
        (PartRefused("x"), Exit.USAGE),
        (NotFound("x", status=404), Exit.USAGE),
        (MemlaneApiError("x", status=400), Exit.USAGE),
        (DependencyError("x"), Exit.UNREACHABLE),
        (Unreachable("x"), Exit.UNREACHABLE),
        (Unavailable("x", status=503), Exit.UNREACHABLE),
        (QueueFull("x", status=429, code="remember_queue_full"), Exit.UNREACHABLE),
        (WaitTimeout("x"), Exit.TASK_FAILED),
        (StateError("x"), Exit.TASK_FAILED),
        (MemlaneError("x"), Exit.TASK_FAILED),
    ],
)
def test_each_error_has_its_exit_code(error, code):
    assert exit_of(error) is code


def test_what_a_part_has_told_already_is_not_told_again():
    assert complaint_of(PartRefused("see above")) == ""
    assert complaint_of(InputError("wrong")) == "memlane: wrong\n"
