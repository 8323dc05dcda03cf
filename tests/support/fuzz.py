"""Asks a running service for all that its OpenAPI document lets expect, and for much that it does not."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.fuzz_hooks import KNOWN_WORKSPACE
from tests.support.memlane_up import Running

ROOT = Path(__file__).parents[2]
ENDLESS = r"/events(/ws)?$"  # streams end when their reader leaves; tests of their own read them

_GENERATED = re.compile(r"([\d,]+) generated")


@dataclass(frozen=True)
class FuzzRun:
    """How a run ended.

    Attributes:
        examples: how many requests were made up and sent.
    """

    passed: bool
    examples: int
    output: str


def fuzz(
    service: Running, workspace: str, *, folder: Path, examples: int, phases: str, skipped: str = "none"
) -> FuzzRun:
    """Send made-up requests, the same ones each time, and hold the answers against all checks there are.

    Args:
        workspace: id of one that the service has.
        folder: for what Schemathesis writes down.
        examples: how many for each operation, at most, in each of the phases that make them up.
        phases: by commas, see ``schemathesis run --phases``.
        skipped: expression that paths match which are left out.
    """
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json"]
    options = {
        "--header": f"Authorization: Bearer {service.token}",
        "--phases": phases,
        "--max-examples": str(examples),
        "--exclude-path-regex": f"{ENDLESS}|{skipped}",
        "--request-timeout": "20",
        "--workers": "1",  # CPython 3.11 parses source in two threads at once wrongly now and then
        "--warnings": "off",
        "--checks": "all",
    }
    words = [word for option in options.items() for word in option]
    done = subprocess.run(
        [*command, "--generation-deterministic", "--continue-on-failure", "--no-color", *words],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SCHEMATHESIS_HOOKS": "tests.support.fuzz_hooks",
            KNOWN_WORKSPACE: workspace,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    found = _GENERATED.search(done.stdout)
    examples = int(found[1].replace(",", "")) if found else 0
    return FuzzRun(done.returncode == 0, examples, done.stdout + done.stderr)
