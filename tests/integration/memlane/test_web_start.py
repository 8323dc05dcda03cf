"""`memlane web`, where it must not start."""

import subprocess
import sys
from pathlib import Path

from tests.support.memlane_up import environment


def test_without_any_token_the_web_does_not_start(tmp_path: Path):
    home = tmp_path / "home"
    settings = {
        "MEMLANE_HOME": str(home),
        "MEMLANE_WORKSPACES": str(tmp_path),
        "MEMLANE_REDIS_URL": "redis://127.0.0.1:1",
    }

    answer = subprocess.run(
        [sys.executable, "-P", "-m", "memlane", "web", "--port", "0"],
        env=environment(tmp_path, **settings),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (answer.returncode, answer.stdout) == (2, "")
    (line,) = answer.stderr.splitlines()
    assert "there is no token; set MEMLANE_TOKEN" in line
