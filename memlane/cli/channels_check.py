"""The work of ``memlane channel check``."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from core.settings import changed_environment, load_settings
from memlane.channels.configuration import check_file
from memlane.cli.exits import Exit
from memlane.cli.task_output import printable
from memlane.site import workspaces_at_hand


def check_configuration(path: Path | None, *, as_json: bool) -> Exit:
    """Print all findings.

    Raises:
        ConfigError: the file can't be read.
    """
    settings = load_settings(channels_file=path)
    workspaces = workspaces_at_hand(settings, must_exist=False)
    findings = check_file(settings.channels_path, workspaces=workspaces, environment=changed_environment({}))
    if as_json:
        sys.stdout.write(json.dumps({"findings": [asdict(one) for one in findings]}) + "\n")
    else:
        for one in findings:
            sys.stdout.write(printable(f"{one.severity}: {one.path}: {one.message}") + "\n")
        if not findings:
            sys.stdout.write("nothing to complain of\n")
    return Exit.TASK_FAILED if findings else Exit.OK
