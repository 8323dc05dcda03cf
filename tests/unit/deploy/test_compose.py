"""docker-compose.yml as a document: no engine is needed to see that it fits the program."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from core.settings import DEFAULT_PORT
from events.connect import connect
from jobs.requirements import find_problems
from jobs.worker import HAND_BACK_S, STOP_MS
from memlane.channels.serving import USUAL
from tests.support.deployment import (
    COMPOSE,
    OURS,
    SERVICES,
    WEBS,
    command_exists,
    environment_plus,
    instructions,
    is_host_folder,
    load_in_process,
    mounts_of,
    seconds,
    setting_defaults,
)
from tests.support.redis_server import engine_or_skip
from tests.support.waiting import until
from tests.support.web_server import running_web
from web.server import GRACE_S

UNITS = {"kb": 1024, "mb": 1024**2, "gb": 1024**3}
DRAIN_S = seconds(f"{OURS['worker']['environment']['MEMLANE_DRAIN_S']}s")


def options_of(command: list[str]) -> dict[str, str]:
    program, *words = command
    assert program == "redis-server"
    return {name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2], strict=True)}


def as_reported(value: str) -> str:
    """A size as the server reports it; anything else as it is."""
    number, unit = value[:-2], value[-2:]
    return str(int(number) * UNITS[unit]) if unit in UNITS and number.isdecimal() else value


def test_there_are_two_of_everything_that_may_be_doubled():
    assert len(WEBS) == 2
    assert OURS["worker"]["deploy"]["replicas"] == 2


@pytest.mark.parametrize("words", sorted({tuple(service["command"]) for service in OURS.values()}))
def test_every_command_exists(words: tuple[str, ...]):
    assert command_exists(*words)


@pytest.mark.parametrize("name", OURS)
def test_every_environment_is_one_that_settings_accept(name: str):
    environment = OURS[name]["environment"]

    assert environment.keys() <= setting_defaults().keys()
    assert all(isinstance(value, str) for value in environment.values())
    settings = load_in_process(environment)
    assert settings["redis_url"] == "redis://redis:6379/0"
    assert "redis" in SERVICES  # the host in that URL


@pytest.mark.parametrize("name", WEBS)
def test_a_web_is_published_on_loopback_under_the_port_that_it_listens_on(name: str):
    settings = load_in_process(WEBS[name]["environment"])

    assert settings["host"] == "0.0.0.0"
    assert WEBS[name]["ports"] == [f"127.0.0.1:{settings['port']}:{settings['port']}"]


def test_nothing_but_the_webs_is_published():
    assert {name for name, service in SERVICES.items() if "ports" in service} == set(WEBS)
    assert SERVICES["redis"]["networks"] == ["state"]
    assert COMPOSE["networks"]["state"]["internal"] is True


def test_the_token_is_in_a_file_for_the_webs_only():
    with_token = {name for name, service in OURS.items() if "token.env" in service["env_file"]}

    assert with_token == WEBS.keys()
    assert {"path": "model.env", "required": False} in OURS["worker"]["env_file"]
    assert not any("MEMLANE_TOKEN" in service["environment"] for service in OURS.values())


def test_everything_is_restarted_and_waits_for_a_redis_that_answers():
    assert {service["restart"] for service in SERVICES.values()} == {"always"}
    assert all(
        service["depends_on"] == {"redis": {"condition": "service_healthy"}} for service in OURS.values()
    )
    assert "healthcheck" in SERVICES["redis"]


def test_volumes_and_networks_are_declared_and_used():
    mounted = {volume for service in SERVICES.values() for volume in mounts_of(service).values()}
    used = {volume for volume in mounted if not is_host_folder(volume)}
    joined = {network for service in SERVICES.values() for network in service["networks"]}

    assert used == COMPOSE["volumes"].keys()
    assert joined == COMPOSE["networks"].keys()


@pytest.mark.parametrize("name", OURS)
def test_every_folder_that_settings_name_is_a_volume(name: str):
    environment = OURS[name]["environment"]
    named = {value for value in environment.values() if value.startswith("/")}
    folders = {str(Path(one).parent) if Path(one).suffix else one for one in named}

    assert folders == mounts_of(OURS[name]).keys()


def test_the_webs_and_the_process_of_channels_read_the_same_channels():
    readers = {**WEBS, "channels": OURS["channels"]}

    assert {one["environment"]["MEMLANE_CHANNELS_FILE"] for one in readers.values()} == {
        "/etc/memlane/channels.json"
    }
    assert {mounts_of(one)["/etc/memlane"] for one in readers.values()} == {"./chat"}
    assert all({"path": "channels.env", "required": False} in one["env_file"] for one in readers.values())


def test_channels_are_served_by_who_asks_for_them():
    assert {name for name, service in SERVICES.items() if "profiles" in service} == {"channels"}
    assert OURS["channels"]["profiles"] == ["channels"]


def test_channels_get_the_time_to_end_turns():
    assert seconds(OURS["channels"]["stop_grace_period"]) > 2 * USUAL.drain_s


def test_locks_lie_in_memory_and_belong_to_the_images_user():
    volume = COMPOSE["volumes"][mounts_of(OURS["worker"])["/run/memlane"]]
    uid, gid = dict(instructions())["USER"][0].split(":")

    assert volume["driver_opts"]["type"] == "tmpfs"
    assert {f"uid={uid}", f"gid={gid}", "mode=0700"} <= set(volume["driver_opts"]["o"].split(","))


def test_a_worker_gets_the_time_to_let_tasks_end_and_to_hand_the_others_back():
    assert seconds(OURS["worker"]["stop_grace_period"]) > DRAIN_S + HAND_BACK_S + STOP_MS / 1000


@pytest.mark.parametrize("name", WEBS)
def test_a_web_gets_the_time_to_finish_requests(name: str):
    assert seconds(WEBS[name]["stop_grace_period"]) > GRACE_S


def test_the_redis_options_are_ones_that_a_server_takes_and_we_accept(tmp_path: Path):
    command = SERVICES["redis"]["command"]
    place = ["--port", "0", "--unixsocket", "redis.sock", "--dir", str(tmp_path)]
    server = subprocess.Popen(
        [engine_or_skip().binary, *command[1:], *place], cwd=tmp_path, stdout=subprocess.DEVNULL
    )
    try:
        until(lambda: accepts(tmp_path / "redis.sock") or server.poll() is not None)
        client = connect(f"unix://{tmp_path}/redis.sock")
        for name, value in options_of(command).items():
            assert client.config_get(name) == {name: as_reported(value)}
        assert client.config_get("appendfsync") == {"appendfsync": "always"}  # what no start can check
        assert find_problems(client) == []
        client.close()
    finally:
        server.terminate()
        server.wait(10)


def accepts(path: Path) -> bool:
    """Whether a server listens there; the name is there a moment earlier."""
    with socket.socket(socket.AF_UNIX) as peer:
        return peer.connect_ex(str(path)) == 0


def test_the_health_check_finds_a_web_that_lives_and_one_that_does_not(tmp_path: Path):
    _, program, *arguments = WEBS["web-1"]["healthcheck"]["test"]
    assert program == "python"

    def status(port: int) -> int:
        return subprocess.run(
            [sys.executable, *arguments], env=environment_plus(MEMLANE_PORT=str(port)), capture_output=True
        ).returncode

    nowhere = "redis://127.0.0.1:1/0"  # a web whose Redis is away lives
    with running_web(nowhere, [tmp_path], folder=tmp_path) as web:
        until(lambda: status(web.port) == 0)
        web.stop()
    assert status(web.port) != 0


def test_the_default_port_is_among_the_published_ones():
    ports = {load_in_process(service["environment"])["port"] for service in WEBS.values()}

    assert DEFAULT_PORT in ports
