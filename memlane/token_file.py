"""The file of named tokens: who has one and what it is good for. Of a token only its digest is kept."""

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from core.errors import ConfigError
from core.ids import is_workspace_id
from memlane.folders import clear_path_errors, lock_folder, make_private
from web.keyring import DEFAULT_NAME
from web.principal import TokenRole

MAX_FILE_BYTES = 1024 * 1024
LOCK_WAIT_S = 5.0

FileState = tuple[int, ...] | None
"""What tells one content of the file from another; None while there is no file."""


class StoredToken(BaseModel):
    """One named token.

    Attributes:
        sha256: digest of the token, in hex.
        workspaces: ids or absolute paths that it is limited to; None means all that are served.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Annotated[str, Field(pattern=r"\A[A-Za-z0-9._-]{1,64}\z")]
    sha256: Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]
    role: TokenRole
    workspaces: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    created: AwareDatetime
    expires: AwareDatetime | None = None

    @field_validator("name")
    @classmethod
    def _refuse_the_owners_name(cls, name: str) -> str:
        if name == DEFAULT_NAME:
            raise ValueError(f"{DEFAULT_NAME} is the token that the service is started with")
        return name

    @field_validator("workspaces")
    @classmethod
    def _check_selectors(cls, workspaces: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if workspaces is not None and not all(
            one.startswith("/") or is_workspace_id(one) for one in workspaces
        ):
            raise ValueError("a workspace is named by its id or its absolute path")
        return workspaces


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    version: Literal[1] = 1
    tokens: tuple[StoredToken, ...] = ()

    @field_validator("tokens")
    @classmethod
    def _check_names(cls, tokens: tuple[StoredToken, ...]) -> tuple[StoredToken, ...]:
        if len({token.name for token in tokens}) < len(tokens):
            raise ValueError("two tokens have one name")
        return tokens


class TokenFile:
    """Named tokens on disk. Each change replaces the file as a whole, so readers never meet half of one."""

    def __init__(self, path: Path) -> None:
        """Take the file's path; a link is followed, so that what it leads to is replaced."""
        self.path = Path(os.path.realpath(path))

    def state(self) -> FileState:
        """Tell whether the file is another than before, without reading it."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            return (error.errno or 0,)
        return (found.st_dev, found.st_ino, found.st_ctime_ns, found.st_size)

    def read(self) -> tuple[StoredToken, ...]:
        """All tokens; none if there is no file.

        Raises:
            ConfigError: it can't be read, others than its owner could have written it, or it is malformed.
        """
        with clear_path_errors(self.path):
            try:
                text = _read_trusted(self.path)
            except FileNotFoundError:
                return ()
        try:
            return _Stored.model_validate_json(text).tokens
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(map(str, first["loc"])) or "the file"
            raise ConfigError(f"{self.path}: {place}: {first['msg']}") from None

    def add(self, token: StoredToken) -> None:
        """Add a token.

        Raises:
            ConfigError: there is one of that name already, or the file can't be used. Nothing was changed.
        """
        with self._locked() as tokens:
            if any(token.name == other.name for other in tokens):
                raise ConfigError(f"there is a token {token.name} already; revoke it first")
            self._write([*tokens, token])

    def remove(self, name: str) -> None:
        """Take a token out.

        Raises:
            ConfigError: there is none of that name, or the file can't be used. Nothing was changed.
        """
        with self._locked() as tokens:
            kept = [token for token in tokens if token.name != name]
            if len(kept) == len(tokens):
                raise ConfigError(f"there is no token {name} in {self.path}")
            self._write(kept)

    @contextmanager
    def _locked(self) -> Iterator[tuple[StoredToken, ...]]:
        folder = make_private(self.path.parent)
        lock = lock_folder(folder, name=f".{self.path.name}.lock", wait_s=LOCK_WAIT_S)
        try:
            yield self.read()
        finally:
            lock.close()

    def _write(self, tokens: Sequence[StoredToken]) -> None:
        stored = _Stored(tokens=tuple(tokens)).model_dump_json(indent=2, exclude_none=True)
        with clear_path_errors(self.path), ExitStack() as undo:
            descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=".tokens-")  # mode 0600
            undo.callback(os.unlink, name)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(stored + "\n")
                file.flush()
                os.fsync(descriptor)
            Path(name).replace(self.path)
            undo.pop_all()


def _read_trusted(path: Path) -> bytes:
    """Read what nobody but us, root and the folder's owner can have written.

    Links are followed, as mounted secrets need it.
    """
    trusted = (os.geteuid(), 0, path.parent.stat().st_uid)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a FIFO must not make us wait
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ConfigError(f"{path} is not a file")
        if found.st_uid not in trusted or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ConfigError(f"{path} could be written by others; make it its owner's alone: chmod 600")
        text = file.read(MAX_FILE_BYTES + 1)
    if len(text) > MAX_FILE_BYTES:
        raise ConfigError(f"{path} is over {MAX_FILE_BYTES} bytes")
    return text
