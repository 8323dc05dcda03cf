"""What operators allow agents to do with the memory of a workspace: a TOML file, read at the start.

Only the operator's file counts; nothing inside a workspace has a say.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.acp import Scope
from core.errors import ConfigError

SecretPolicy = Literal["reject", "redact", "allow"]


class Policy(BaseModel):
    """What holds for one workspace; a budget that is None leaves the service's own limit.

    Attributes:
        secrets: what becomes of a task whose content, or whose changes to memory, hold what looks like a
            secret: it fails, the secret is blotted out, or nothing.
        quarantine: whether text that gives an agent orders waits for a review, out of every index.
        scopes: where documents may be changed.
        max_turns: model calls of one task.
        max_tokens: input and output tokens of one task.
        max_seconds: time of one task.
        max_writes: documents that one task may change.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    secrets: SecretPolicy = "reject"
    quarantine: bool = False
    scopes: Annotated[frozenset[Scope], Field(min_length=1)] = frozenset({"user", "project"})
    max_turns: Annotated[int, Field(ge=1, le=100)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_seconds: Annotated[int, Field(ge=1, le=3_600)] | None = None
    max_writes: Annotated[int, Field(ge=1, le=50)] | None = None


class Policies:
    """The policy of each workspace."""

    def __init__(self, default: Policy, workspaces: Mapping[str, Policy]) -> None:
        self._default = default
        self._workspaces = dict(workspaces)

    def of(self, workspace: str) -> Policy:
        """What holds for a workspace, named by its canonical path."""
        return self._workspaces.get(workspace, self._default)


def load_policies(path: Path | None) -> Policies:
    """Read a policy file: a table ``default``, and one below ``workspaces`` for each path that differs.

    A workspace's table says only what is different; the rest is the default's.

    Args:
        path: None means that the defaults hold everywhere.

    Raises:
        ConfigError: it can't be read, is no TOML, or says something that is no policy.
    """
    if path is None:
        return Policies(Policy(), {})
    tables = _read(path)
    default = tables.pop("default", {})
    workspaces = tables.pop("workspaces", {})
    if tables or not isinstance(default, dict) or not isinstance(workspaces, dict):
        raise ConfigError(f"{path} may hold the tables `default` and `workspaces` only")
    named = {
        str(Path(name).resolve()): _policy(path, f"workspaces.{name}", _over(default, table))
        for name, table in workspaces.items()
    }
    return Policies(_policy(path, "default", default), named)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the policy file {path} can't be read") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the policy file {path} is no TOML: {error}") from error


def _over(default: Mapping[str, Any], table: Any) -> Any:
    return {**default, **table} if isinstance(table, dict) else table


def _policy(path: Path, name: str, table: Any) -> Policy:
    try:
        return Policy.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, (name, *first["loc"])))
        raise ConfigError(f"{path}: {place}: {first['msg']}") from None
