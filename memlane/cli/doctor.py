"""The work of ``memlane doctor``."""

import json
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.errors import ConfigError
from core.logs import configure_logs
from core.settings import Settings, load_settings
from core.workspaces import Workspaces
from memlane.cli.exits import Exit
from memlane.cli.task_output import printable
from memlane.token_file import TokenFile
from memory.doctor import all_roots, examine, mend, workspace_roots
from memory.paths import canonical_folder


class Trouble(Protocol):
    """What was found, in memory or beside it; see ``memory.findings.Finding``."""

    @property
    def code(self) -> str:
        """Stable name of the kind of trouble."""

    @property
    def place(self) -> str:
        """Absolute path."""

    @property
    def sentence(self) -> str:
        """What is wrong."""

    @property
    def mend(self) -> str:
        """What to do."""

    @property
    def is_mendable(self) -> bool:
        """Whether ``--fix`` does it."""


@dataclass(frozen=True, slots=True)
class TokensUnusable:
    """The tokens file can't be used: a running web goes on with the tokens of before."""

    place: str
    sentence: str
    code: str = "tokens_unusable"
    mend: str = "Mend it, or take it away and make new tokens with `memlane token new`."
    is_mendable: bool = False


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
    left: list[Trouble] = [*after, *(_look_at_tokens(settings) if workspace is None else ())]
    sys.stdout.write(_as_json(left, mended) if as_json else _as_text(left, mended))
    return Exit.TASK_FAILED if left else Exit.OK


def _look_at_tokens(settings: Settings) -> list[TokensUnusable]:
    file = TokenFile(settings.tokens_path)
    try:
        file.read()
    except ConfigError as error:
        sentence = str(error).removeprefix(f"{file.path}: ")
        return [TokensUnusable(str(file.path), f"{sentence}.")]
    return []


def _roots(settings: Settings, base: Path, workspace: Path | None) -> tuple[Path, ...]:
    if workspace is not None:
        (found,) = Workspaces([str(workspace)])
        return workspace_roots(base, found.path, local=settings.memory_local)
    if not settings.memory_local or not settings.workspaces:
        return all_roots(base)
    served = Workspaces(settings.workspaces, must_exist=False)
    local = (root for one in served for root in workspace_roots(base, one.path, local=True))
    return tuple(dict.fromkeys((*all_roots(base), *local)))


def _as_json(left: Collection[Trouble], mended: Collection[Trouble]) -> str:
    shown = {"findings": [_facts(one) for one in left], "mended": [_facts(one) for one in mended]}
    return json.dumps(shown) + "\n"


def _facts(finding: Trouble) -> dict[str, str | bool]:
    return {
        "code": finding.code,
        "path": finding.place,
        "message": finding.sentence,
        "mend": finding.mend,
        "mendable": finding.is_mendable,
    }


def _as_text(left: Collection[Trouble], mended: Collection[Trouble]) -> str:
    lines = [f"mended: {printable(one.place)}: {printable(one.sentence)}" for one in mended]
    for one in left:
        lines += [f"{printable(one.place)}: {printable(one.sentence)}", f"    {printable(one.mend)}"]
    return "\n".join([*lines, _count(left)]) + "\n"


def _count(left: Collection[Trouble]) -> str:
    if not left:
        return "nothing is wrong"
    mendable = sum(finding.is_mendable for finding in left)
    count = "1 finding" if len(left) == 1 else f"{len(left)} findings"
    return f"{count}, {mendable} for `memlane doctor --fix`" if mendable else count
