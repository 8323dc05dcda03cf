"""Reads the files that say how memlane is deployed, and what its settings are called."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic_settings import BaseSettings

from core.settings import ClientSettings, ModelSettings, Settings

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
WEBS = {name: service for name, service in OURS.items() if service["command"] == ["web"]}

_LOAD = """
import json
from core.settings import load_model_settings, load_settings
settings = load_settings()
load_model_settings()
print(json.dumps(settings.model_dump(mode="json")))
"""


def setting_defaults() -> dict[str, Any]:
    """Default of each setting by the name of its environment variable."""
    models: list[type[BaseSettings]] = [Settings, ModelSettings, ClientSettings]
    return {
        _variable(model, name): field.default
        for model in models
        for name, field in model.model_fields.items()
    }


def load_in_process(environment: Mapping[str, str]) -> dict[str, Any]:
    """Settings as a process with exactly this environment reads them."""
    answer = subprocess.run(
        [sys.executable, "-c", _LOAD], env=dict(environment), cwd=ROOT, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    settings: dict[str, Any] = json.loads(answer.stdout)
    return settings


def command_exists(*words: str) -> bool:
    """Whether the command line knows it."""
    answer = subprocess.run(
        [sys.executable, "-P", "-m", "memlane", *words, "--help"], cwd=ROOT, capture_output=True
    )
    return answer.returncode == 0


def instructions() -> list[tuple[str, list[str]]]:
    """The Dockerfile's instructions in order, each with its words."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, json.loads(rest) if rest.startswith("[") else shlex.split(rest)) for name, rest in lines]


def mounts_of(service: Mapping[str, Any]) -> dict[str, str]:
    """Volume, or folder of the host, by the folder that it is mounted on."""
    pairs = [mount.split(":")[:2] for mount in service.get("volumes", [])]
    return {folder: volume for volume, folder in pairs}


def is_host_folder(volume: str) -> bool:
    """Whether it is a folder of the host in place of a volume."""
    return volume.startswith("./")


def packages() -> list[Path]:
    """Folders of our packages."""
    return [path.parent for path in sorted(ROOT.glob("*/__init__.py"))]


def seconds(duration: str) -> float:
    """Read a duration that is written in whole seconds, such as ``90s``."""
    assert duration.endswith("s"), duration
    return float(duration.removesuffix("s"))


def environment_plus(**changes: str) -> dict[str, str]:
    """This process's environment with changes."""
    return {**os.environ, **changes}


def _variable(model: type[BaseSettings], name: str) -> str:
    field = model.model_fields[name]
    alias = field.validation_alias or field.alias
    return str(alias or f"{model.model_config.get('env_prefix', '')}{name}").upper()
