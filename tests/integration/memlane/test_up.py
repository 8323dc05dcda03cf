import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import clock
from memlane.client import Client
from memlane.errors import Unavailable, Unreachable
from memlane.models import Task
from tests.support.child_processes import descendants_of, environment_of
from tests.support.memlane_up import STOP_LIMIT_S, Running, command, environment, running_memlane
from tests.support.memory import documents_below
from tests.support.redis_server import engine_or_skip
from tests.support.service import part_of
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def needs_an_engine():
    engine_or_skip()


def refused(folder: Path, *arguments: str, **changes: str) -> str:
    """The one line that a start that must fail says."""
    answer = subprocess.run(
        command(folder, *arguments),
        env=environment(folder, **changes),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1, answer.stderr
    return answer.stderr


def open_descendants(service: Running) -> list[int]:
    """Open process handles of everything that a service has started."""
    return [os.pidfd_open(pid) for pid in descendants_of(service.process.pid)]


def assert_all_end(pidfds: list[int]) -> None:
    for pidfd in pidfds:
        ended, _, _ = select.select([pidfd], [], [], 10.0)
        assert ended, "a process was left behind"
        os.close(pidfd)


def test_what_was_accepted_survives_a_kill_and_a_restart_and_no_process_is_left(tmp_path):
    with running_memlane(tmp_path) as service, Client(service.url, service.token) as client:
        task = client.wait(client.remember("The staging database is called heron."), 30)
        assert task.status == "completed", task
        assert documents_below(tmp_path / "memory")
        pidfds = open_descendants(service)
        assert len(pidfds) >= 4  # Redis, the web's two, the worker
        service.process.kill()
        service.process.wait()
        assert_all_end(pidfds)

    with running_memlane(tmp_path) as service, Client(service.url, service.token) as client:
        assert client.get(task.task_id) == task
        pidfds = open_descendants(service)
        service.process.send_signal(signal.SIGINT)
        assert service.process.wait(STOP_LIMIT_S) == 0
        assert_all_end(pidfds)


def test_each_part_that_is_killed_comes_back(tmp_path):
    with running_memlane(tmp_path) as service, Client(service.url, service.token, limit_s=20) as client:
        for part in ("worker", "web", "redis"):
            pid = part_of(service, part)
            pidfd = os.pidfd_open(pid)
            os.kill(pid, signal.SIGKILL)
            assert_all_end([pidfd])

            task = client.wait(remember_until_accepted(client, f"Killed the {part} for a test."), 40)
            assert task.status == "completed", task


def remember_until_accepted(client: Client, content: str) -> Task:
    """Ask again while the part that was killed is on its way back, which is told as unavailable."""
    deadline_ms = clock.boot_ms() + 20_000
    while True:
        try:
            return client.remember(content)
        except (Unreachable, Unavailable):
            if clock.boot_ms() > deadline_ms:
                raise


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Path]]:
    folder = tmp_path_factory.mktemp("shared")
    with running_memlane(folder) as running:
        yield running, folder


def test_the_web_has_the_token_and_the_worker_has_not(service):
    running, _ = service
    web = environment_of(part_of(running, "web"))
    worker = environment_of(part_of(running, "worker"))

    assert f"MEMLANE_TOKEN={running.token}" in web
    assert running.token not in "".join(worker)


def test_a_second_instance_on_the_same_home_is_told_of_the_first(service):
    running, folder = service

    complaint = refused(folder)

    assert f"memlane at {running.url} (process {running.process.pid}) runs on {folder}/home" in complaint
    assert "--home" in complaint


def test_the_command_line_remembers_and_shows_what_was_written(service):
    running, _ = service
    words = ["remember", "-", "--wait", "--url", running.url, "--token-file", str(running.token_file)]

    answer = subprocess.run(
        [sys.executable, "-m", "memlane", *words],
        input="The build runs on Debian.",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert ".md" in answer.stdout
    assert "is completed" in answer.stderr


def test_a_workspace_with_packages_named_like_ours_does_no_harm(tmp_path):
    (tmp_path / "workspace").mkdir()
    for name in ("core", "web", "jobs", "memory", "events", "agent", "acp_bridge", "redis", "flask"):
        (tmp_path / "workspace" / name).mkdir()
        (tmp_path / "workspace" / name / "__init__.py").write_text(
            "raise SystemExit('code of a workspace ran')\n"
        )

    variables = environment(tmp_path, PYTHONPATH=".:")
    starting = running_memlane(tmp_path, cwd=tmp_path / "workspace", env=variables)
    with starting as service, Client(service.url, service.token) as client:
        assert client.wait(client.remember("Tests are run with pytest."), 30).status == "completed"


@pytest.mark.parametrize("variables", [{}, {"PYTHONPATH": "."}, {"PYTHONPATH": "/no/such/folder/:down/..:"}])
def test_python_m_does_not_import_from_the_folder_it_is_run_in(tmp_path, variables):
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("raise SystemExit('code of a workspace ran')\n")

    answer = subprocess.run(
        [sys.executable, "-m", "memlane", "--help"],
        cwd=tmp_path,
        env=environment(tmp_path, **variables),
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == 0, answer.stderr


def test_people_are_told_where_it_is_what_to_try_and_how_it_ended(tmp_path):
    process = subprocess.Popen(
        command(tmp_path), stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment(tmp_path)
    )
    with process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(7)]
        words = next(line for line in said if line.startswith("  try")).split(None, 1)[1]
        answer = subprocess.run(
            ["/bin/sh", "-c", words],
            cwd="/",
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        process.send_signal(signal.SIGINT)
        last = process.stdout.read()

    assert said[0].startswith("memlane is ready at http://127.0.0.1:")
    assert said[-1] == "  stop       Ctrl-C\n"
    assert answer.returncode == 0, answer.stderr
    assert ".md" in answer.stdout
    assert last == "stopped; no tasks wait for the next start\n"
    assert process.returncode == 0


def test_an_interrupt_before_it_is_ready_is_a_stop_as_well(tmp_path):
    process = subprocess.Popen(
        command(tmp_path), stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment(tmp_path)
    )
    with process:
        until((tmp_path / "home" / "run.json").exists)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        said = process.stdout.read()

    assert process.returncode == 0
    assert said.splitlines()[-1].startswith("stopped")


def test_a_busy_port_is_refused(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])

        assert f"port {port} on 127.0.0.1 is in use" in refused(tmp_path, "--port", port)


def test_a_missing_workspace_is_refused(tmp_path):
    assert "does not exist" in refused(tmp_path, "--workspace", str(tmp_path / "missing"))


def test_a_home_that_can_not_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")

    assert "can't use" in refused(tmp_path, "--home", str(tmp_path / "file" / "home"))


def test_a_setting_out_of_range_is_refused(tmp_path):
    assert "MEMLANE_THREADS" in refused(tmp_path, MEMLANE_THREADS="0")
    assert "'debug', 'info', 'warning' or 'error'" in refused(tmp_path, MEMLANE_LOG_LEVEL="loud")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is no JSON"),
        ('{"channels": {"team": {"type": "telegram", "token": "$MEMLANE_NO_SUCH_NAME"}}}', "is not set"),
        ('{"channels": {"team": {"type": "telegram"}}}', "memlane channel check tells all"),
        ('{"channels": {"team": {"type": "telegram", "token": "1:a", "cwd": "/srv/x"}}}', "is no workspace"),
    ],
)
def test_channels_that_can_t_be_served_are_refused_before_anything_starts(tmp_path, content, told):
    file = tmp_path / "my-channels.json"
    file.write_text(content)

    said = refused(tmp_path, MEMLANE_CHANNELS_FILE=str(file))
    assert told in said


def test_listening_on_every_address_tells_what_is_exposed(tmp_path):
    process = subprocess.Popen(
        command(tmp_path, "--host", "0.0.0.0"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(tmp_path),
    )
    with process:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.terminate()
        process.stderr.read()

    assert "other machines can reach port" in first
    assert "on 0.0.0.0:" in first
