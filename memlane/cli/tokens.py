"""The work of ``memlane token``."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.clock import wall_ms
from core.durations import parse_duration
from core.errors import ConfigError
from core.settings import load_settings
from memlane.cli.exits import Exit
from memlane.cli.selectors import selector_of
from memlane.cli.task_output import printable
from memlane.credentials import new_token
from memlane.token_file import StoredToken, TokenFile
from web.keyring import digest_of
from web.principal import TokenRole


@dataclass(frozen=True, slots=True)
class Grant:
    """What a new token is to be good for, as it was asked for.

    Attributes:
        workspaces: ids or paths, a relative one from the current folder; empty means all that are served.
        expires: a time from now such as ``90d``, a date or a time; None means never.
    """

    name: str
    role: TokenRole
    workspaces: tuple[str, ...]
    expires: str | None


def make(grant: Grant, path: Path | None, *, as_json: bool) -> Exit:
    """Make a token and print it: alone on standard output, what it is good for beside it.

    Raises:
        ConfigError: it can't be made as asked, or the file can't be used. Nothing was changed.
    """
    token, file = new_token(), _file(path)
    stored = _stored(grant, token)
    file.add(stored)
    if as_json:
        sys.stdout.write(json.dumps({**_facts(stored), "token": token, "file": str(file.path)}) + "\n")
        return Exit.OK
    sys.stdout.write(f"{token}\n")
    sys.stderr.write(
        f"{_line(stored)}\nIt is shown this once; {printable(str(file.path))} keeps its digest.\n"
    )
    return Exit.OK


def show(path: Path | None, *, as_json: bool) -> Exit:
    """Print all named tokens.

    Raises:
        ConfigError: the file can't be used.
    """
    tokens = _file(path).read()
    if as_json:
        sys.stdout.write(json.dumps({"tokens": [_facts(token) for token in tokens]}) + "\n")
    else:
        sys.stdout.write("".join(f"{_line(token)}\n" for token in tokens) or "there are no named tokens\n")
    return Exit.OK


def revoke(name: str, path: Path | None) -> Exit:
    """Take a token out of the file.

    Raises:
        ConfigError: there is none of that name, or the file can't be used. Nothing was changed.
    """
    _file(path).remove(name)
    sys.stdout.write(f"{name} is revoked\n")
    return Exit.OK


def _file(path: Path | None) -> TokenFile:
    return TokenFile(load_settings(tokens_file=path).tokens_path)


def _stored(grant: Grant, token: str) -> StoredToken:
    now = _now()
    expires = None if grant.expires is None else _expiry(grant.expires, now)
    try:
        return StoredToken(
            name=grant.name,
            sha256=digest_of(token.encode()).hex(),
            role=grant.role,
            workspaces=tuple(map(selector_of, grant.workspaces)) or None,
            created=now,
            expires=expires,
        )
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ConfigError(f"{first['loc'][0]}: {first['msg']}") from None


def _now() -> datetime:
    return datetime.fromtimestamp(wall_ms() // 1000, UTC)


def _expiry(text: str, now: datetime) -> datetime:
    duration = parse_duration(text)
    try:
        expires = datetime.fromisoformat(text) if duration is None else now + duration
    except (ValueError, OverflowError):
        raise ConfigError(f"{text!r} is neither a time from now, such as 90d, nor a date") from None
    if expires.tzinfo is None:
        expires = expires.replace(tzinfo=UTC)
    if expires <= now:
        raise ConfigError(f"{text!r} has passed already")
    return expires


def _facts(token: StoredToken) -> dict[str, Any]:
    facts = token.model_dump(mode="json", exclude={"sha256"})
    return facts | {"expired": _has_expired(token)}


def _line(token: StoredToken) -> str:
    where = "all workspaces" if token.workspaces is None else ", ".join(map(printable, token.workspaces))
    until = "never expires"
    if token.expires is not None:
        until = f"{'expired' if _has_expired(token) else 'expires'} {token.expires:%Y-%m-%d %H:%M} UTC"
    return f"{token.name}  {token.role}  {where}  made {token.created:%Y-%m-%d}  {until}"


def _has_expired(token: StoredToken) -> bool:
    return token.expires is not None and token.expires <= _now()
