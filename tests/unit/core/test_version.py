import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from core.version import own_version

ROOT = Path(__file__).parents[3]


def test_the_version_is_that_of_the_installed_distribution():
    assert own_version() == version("memlane")


def test_a_source_tree_that_was_never_installed_has_version_0():
    script = "from core.version import own_version; print(own_version())"

    answer = subprocess.run(
        [sys.executable, "-S", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert answer.stdout == "0\n"
