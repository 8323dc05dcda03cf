"""docs/operations.md, held against what it describes."""

import ast
import configparser
import subprocess
import sys
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from jobs.worker import HAND_BACK_S, STOP_MS
from memlane.embedded import EmbeddedRedis
from tests.support.deployment import (
    command_exists,
    environment_plus,
    load_in_process,
    packages,
    setting_defaults,
)
from tests.support.documents import code_under, quoted, table_under
from tests.support.keyring import single_token
from web.auth import Guard
from web.target import read_target

UNITS = code_under("systemd", "ini")
LONGEST_STOP_S = HAND_BACK_S + STOP_MS / 1000


class Unit(configparser.RawConfigParser):
    """A unit file; keys that come several times keep all their values, one a line."""

    def __init__(self, text: str) -> None:
        super().__init__(strict=False, dict_type=_Gathering, interpolation=None)
        self.optionxform = str  # type: ignore[assignment,method-assign]  # the documented way
        self.read_string(text)

    @property
    def environment(self) -> dict[str, str]:
        lines = self.get("Service", "Environment").splitlines()
        return dict(line.split("=", 1) for line in lines if line)


class _Gathering(dict[str, Any]):
    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, list) and key in self:
            self[key].extend(value)
            return
        super().__setitem__(key, value)


def shown(default: Any) -> str:
    if default is None or default == ():
        return "\N{EN DASH}"
    if isinstance(default, bool):
        return "on" if default else "off"
    if isinstance(default, timedelta):
        return f"`{default.days}d`"
    if isinstance(default, int | float):
        return f"{default:.10g}"
    return f"`{default}`"


def test_the_table_of_settings_is_the_settings():
    table = {quoted(name)[0]: default for name, default, _ in table_under("Settings")}

    assert table == {name: shown(default) for name, default in setting_defaults().items()}


def log_events() -> set[str]:
    """What loggers are called with first, directly or by way of a variable ``event``."""
    nodes = [
        node
        for package in packages()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
    ]
    first = [node.args[0] for node in nodes if isinstance(node, ast.Call) and _is_log_call(node)]
    chosen = [node.value for node in nodes if isinstance(node, ast.Assign) and _sets_event(node)]
    constants = chain.from_iterable(map(ast.walk, [*first, *chosen]))
    return {str(node.value) for node in constants if isinstance(node, ast.Constant)}


def _is_log_call(node: ast.Call) -> bool:
    return ast.unparse(node.func).startswith("_log.") and bool(node.args)


def _sets_event(node: ast.Assign) -> bool:
    return [ast.unparse(target) for target in node.targets] == ["event"]


def test_every_log_event_that_is_worth_an_alarm_is_logged():
    named = {name for sign, where, _ in table_under("Alarms") if "log" in where for name in quoted(sign)}

    assert named
    assert named <= log_events()


@pytest.mark.parametrize("text", UNITS, ids=["web", "worker"])
def test_a_unit_starts_a_command_that_exists_in_an_environment_that_settings_accept(text: str):
    unit = Unit(text)

    assert command_exists(unit.get("Service", "ExecStart").split()[-1])
    assert unit.environment.keys() <= setting_defaults().keys()
    load_in_process(unit.environment)


@pytest.mark.parametrize("text", UNITS, ids=["web", "worker"])
def test_a_unit_is_always_restarted_and_only_its_main_process_gets_the_signal(text: str):
    unit = Unit(text)

    assert unit.get("Service", "Restart") == "always"
    assert unit.get("Service", "KillMode") == "mixed"


def test_the_workers_unit_has_the_time_to_drain_and_locks_that_outlive_one_worker():
    unit = Unit(UNITS[1])
    drain_s = float(unit.environment["MEMLANE_DRAIN_S"])

    assert drain_s + LONGEST_STOP_S < unit.getfloat("Service", "TimeoutStopSec")
    assert unit.environment["MEMLANE_RUN_DIR"] == f"/run/{unit.get('Service', 'RuntimeDirectory')}"
    assert unit.getboolean("Service", "RuntimeDirectoryPreserve")


def test_a_pod_has_the_time_to_drain_and_an_environment_that_settings_accept():
    _, pod = map(yaml.safe_load, code_under("Kubernetes", "yaml"))
    (container,) = pod["containers"]
    environment = {pair["name"]: pair["value"] for pair in container["env"]}

    assert float(environment["MEMLANE_DRAIN_S"]) + LONGEST_STOP_S < pod["terminationGracePeriodSeconds"]
    assert environment.keys() <= setting_defaults().keys()
    load_in_process(environment)
    assert command_exists(container["args"][0])
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts == {"memory": environment["MEMLANE_MEMORY_DIR"], "run": environment["MEMLANE_RUN_DIR"]}


def test_probes_ask_open_paths_under_a_name_that_the_guard_lets_pass():
    probes, _ = map(yaml.safe_load, code_under("Kubernetes", "yaml"))
    guard = Guard(single_token("T"), bound_host="0.0.0.0", open_paths=["/health/live", "/health/ready"])

    for probe in probes.values():
        asked = probe["httpGet"]
        (header,) = asked["httpHeaders"]
        assert header["name"] == "Host"
        environ = {
            "HTTP_HOST": header["value"],
            "SERVER_PORT": str(asked["port"]),
            "RAW_URI": asked["path"],
            "PATH_INFO": asked["path"],
            "REQUEST_METHOD": "GET",
        }
        guard.check(environ, read_target(environ))


def test_the_lines_that_hold_let_go_and_drop_a_lane_run(own_redis: EmbeddedRedis, tmp_path: Path):
    (lines,) = code_under("Lanes by hand", "python")

    answer = subprocess.run(
        [sys.executable, "-P", "-c", lines],
        env=environment_plus(MEMLANE_REDIS_URL=own_redis.state_url),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert answer.returncode == 0, answer.stderr
