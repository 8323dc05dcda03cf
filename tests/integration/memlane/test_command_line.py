import io
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from core.errors import DependencyError, InputError, MemlaneError, StateError
from memlane.__main__ import main
from memlane.cli.exits import Exit, exit_of
from memlane.errors import MemlaneApiError, NotFound, QueueFull, Unavailable, Unreachable, WaitTimeout
from memlane.supervisor import PartRefused
from tests.support.scripted_service import Reply, scripted_service

QUEUED = {
    "taskId": "remember-3f0c5f0e-5a0e-4e0e-9d2e-0a4a3c2f1b00",
    "status": "queued",
    "position": 1,
    "createdAt": "2026-01-01T00:00:00.000Z",
    "updatedAt": "2026-01-01T00:00:00.000Z",
}
RESULT = {"summary": "Saved \x1b[31mit.", "filesTouched": ["~/.qwen/a.md", "~/.qwen/b.md"]}
DONE = QUEUED | {"status": "completed", "result": RESULT, "position": None}
FAILED = QUEUED | {"status": "failed", "error": {"code": "remember_timeout", "message": "Too slow."}}


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("MEMLANE_TOKEN", "secret")


def run(*words: str) -> int:
    """Exit code of a command run in this process."""
    try:
        return main(words)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1


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
    assert capsys.readouterr().err.startswith(f"memlane: no answer from memlane at {url}")


def test_a_refusal_is_exit_code_2(capsys):
    with scripted_service([Reply(401, {"error": "Unauthorized", "code": "unauthorized"})]) as service:
        assert run("remember", "hello", "--url", service.url) == 2

    assert capsys.readouterr().err == "memlane: Unauthorized\n"


def test_an_interrupt_is_exit_code_130(monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("memlane.client.Client.remember", interrupted)
    monkeypatch.setattr("memlane.cli.agent.run", interrupted)

    assert run("remember", "hello") == 130
    assert run("agent") == 130


@pytest.mark.parametrize(
    "words", [("remember",), ("remember", "x", "--scope", "moon"), ("up", "--nope"), ("fly",)]
)
def test_wrong_usage_is_exit_code_2(words, capsys):
    assert run(*words) == 2
    assert "Usage: memlane" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [(), ("--help",), *((name, "--help") for name in ("up", "remember", "web"))]
)
def test_help_is_at_hand(words, capsys):
    run(*words)

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
