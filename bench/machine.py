"""What a measurement was made on."""

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from memlane.engine import Engine


def machine_facts(engine: Engine) -> Mapping[str, str]:
    """Facts that figures mean nothing without."""
    one, five, _ = os.getloadavg()
    return {
        "CPU": _cpu_model(Path("/proc/cpuinfo").read_text()),
        "cores": str(os.cpu_count()),
        "kernel": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "server": f"{engine.name} {engine.version}",
        "dramatiq": version("dramatiq"),
        "redis-py": version("redis"),
        "load at start": f"{one:.2f} (1 min), {five:.2f} (5 min)",
    }


def _cpu_model(cpuinfo: str) -> str:
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()
