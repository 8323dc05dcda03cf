"""From a task's changes to what the journal records of them."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core import clock
from core.acp import Scope
from memory.content import digest
from memory.journal import FencedTask, Intent, PlannedChange
from memory.paths import SCOPES, Roots, root_name
from memory.transaction import Change


@dataclass(frozen=True, slots=True)
class Commit:
    """What a commit did.

    Attributes:
        revision: ``r<seq>``; None when nothing changed.
        files_touched: absolute paths, sorted.
    """

    revision: str | None
    files_touched: tuple[Path, ...]
    touched_scopes: tuple[Scope, ...]


def describe(changes: Sequence[Change], *, revision: str | None) -> Commit:
    """What a commit of these changes, sorted by path, does."""
    touched = {change.scope for change in changes}
    return Commit(
        revision=revision if changes else None,
        files_touched=tuple(Path(change.path) for change in changes),
        touched_scopes=tuple(scope for scope in SCOPES if scope in touched),
    )


def plan_changes(changes: Iterable[Change], *, base: Path, roots: Roots) -> tuple[PlannedChange, ...]:
    """Changes of a workspace's documents as the journal of this base writes them."""
    return tuple(
        PlannedChange(
            root=root_name(base, roots.of(change.scope)),
            path=str(Path(change.path).relative_to(roots.of(change.scope))),
            scope=change.scope,
            old=digest(change.before) if change.before is not None else None,
            before=change.before,
            new=change.after,
        )
        for change in changes
    )


def restore_changes(planned: Iterable[PlannedChange], *, roots: Roots) -> Iterator[Change]:
    """Changes as ``plan_changes`` was given them."""
    for change in planned:
        path = f"{roots.of(change.scope)}/{change.path}"
        yield Change(path, change.scope, before=change.before, after=change.new)


def invert(planned: Iterable[PlannedChange], *, roots: Roots) -> Iterator[Change]:
    """Changes that take these back."""
    for change in restore_changes(planned, roots=roots):
        yield replace(change, before=change.after, after=change.before)


def plan_intent(
    task: FencedTask, *, seq: int, changes: tuple[PlannedChange, ...], result: dict[str, Any]
) -> Intent:
    """A task's intent, with its random token and the time of now."""
    return Intent(
        seq=seq,
        task=task.id,
        lane=task.lane,
        fence=task.fence,
        kind=task.kind,
        client=task.client,
        token=secrets.token_hex(16),
        mtime_ns=clock.wall_ms() * 1_000_000,
        result=result,
        changes=changes,
    )
