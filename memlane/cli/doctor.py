"""The work of ``memlane doctor``."""

import json
import sys
from collections.abc import Collection
from pathlib import Path

from core.logs import configure_logs
from core.settings import Settings, load_settings
from core.workspaces import Workspaces
from memlane.cli.exits import Exit
from memlane.cli.task_output import printable
from memory.doctor import all_roots, examine, mend, workspace_roots
from memory.findings import Finding
from memory.paths import canonical_folder


def run(workspace: Path | None, *, fix: bool, as_json: bool) -> Exit:
    """Examine the memory base and print what is found; with ``fix`` what is left after mending.

    Raises:
        ConfigError: a setting can't be used, or the workspace is no existing folder.
        StoreUnusable, StoreBusy: the memory base is missing, or its store can't be used for mending.
    """
    settings = load_settings()
    configure_logs(settings.log_level, process="doctor")
    base = canonical_folder(settings.memory_base, "memory base")
    before = examine(base, _roots(settings, base, workspace))
    after = before
    if fix and any(finding.is_mendable for finding in before):
        mend(base, before)
        after = examine(base, _roots(settings, base, workspace))
    mended = [finding for finding in before if finding not in after]
    sys.stdout.write(_as_json(after, mended) if as_json else _as_text(after, mended))
    return Exit.TASK_FAILED if after else Exit.OK


def _roots(settings: Settings, base: Path, workspace: Path | None) -> tuple[Path, ...]:
    if workspace is not None:
        (found,) = Workspaces([str(workspace)])
        return workspace_roots(base, found.path, local=settings.memory_local)
    if not settings.memory_local or not settings.workspaces:
        return all_roots(base)
    served = Workspaces(settings.workspaces, must_exist=False)
    local = (root for one in served for root in workspace_roots(base, one.path, local=True))
    return tuple(dict.fromkeys((*all_roots(base), *local)))


def _as_json(left: Collection[Finding], mended: Collection[Finding]) -> str:
    shown = {"findings": [_facts(one) for one in left], "mended": [_facts(one) for one in mended]}
    return json.dumps(shown) + "\n"


def _facts(finding: Finding) -> dict[str, str | bool]:
    return {
        "code": finding.code,
        "path": finding.place,
        "message": finding.sentence,
        "mend": finding.mend,
        "mendable": finding.is_mendable,
    }


def _as_text(left: Collection[Finding], mended: Collection[Finding]) -> str:
    lines = [f"mended: {printable(one.place)}: {printable(one.sentence)}" for one in mended]
    for one in left:
        lines += [f"{printable(one.place)}: {printable(one.sentence)}", f"    {printable(one.mend)}"]
    return "\n".join([*lines, _count(left)]) + "\n"


def _count(left: Collection[Finding]) -> str:
    if not left:
        return "nothing is wrong"
    mendable = sum(finding.is_mendable for finding in left)
    count = "1 finding" if len(left) == 1 else f"{len(left)} findings"
    return f"{count}, {mendable} for `memlane doctor --fix`" if mendable else count
