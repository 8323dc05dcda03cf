"""The bearer token: where it lies, how it is made, what shape it has."""

import re
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path

from core.errors import ConfigError
from core.ids import is_client_id
from core.settings import ClientSettings
from memlane.folders import clear_path_errors

_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")
_TOKEN_BYTES = 32


def token_file(home: Path) -> Path:
    """Where the token of the service in ``home`` lies."""
    return home / "token"


def read_token(path: Path) -> str | None:
    """Read a token file; None if there is none.

    Raises:
        ConfigError: it can't be read or holds no usable token.
    """
    with clear_path_errors(path):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
    return check_token(text.strip(), source=str(path))


@dataclass(frozen=True, slots=True)
class FoundToken:
    """The token that a client uses.

    Attributes:
        token: None if there is none.
        source: a variable or file, for messages.
    """

    token: str | None
    source: str


def configured_token(settings: ClientSettings) -> FoundToken:
    """Find a client's token: ``MEMLANE_TOKEN``, else the file in the home folder.

    Raises:
        ConfigError: it can't be read or is not usable.
    """
    if settings.token is not None:
        token = check_token(settings.token.get_secret_value(), source="MEMLANE_TOKEN")
        return FoundToken(token, "MEMLANE_TOKEN")
    path = token_file(settings.home.expanduser())
    return FoundToken(read_token(path), str(path))


def check_token(token: str, *, source: str) -> str:
    """Return the token if it can travel in a header.

    Raises:
        ConfigError: it is empty, too long, or not printable ASCII; the message names ``source`` only.
    """
    if _TOKEN.fullmatch(token) is None:
        raise ConfigError(
            f"the token in {source} must be 1 to 4096 printable ASCII characters without blanks"
        )
    return token


def check_client_id(client_id: str | None) -> str | None:
    """Return the client id if it can travel in a header; None stays None.

    Raises:
        ConfigError: it is not 1 to 128 of ``A-Z a-z 0-9 . _ : -``.
    """
    if client_id is not None and not is_client_id(client_id):
        raise ConfigError("a client id has 1 to 128 characters of A-Z a-z 0-9 . _ : -")
    return client_id


def new_token() -> str:
    """Make a token of 256 random bits."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def ensure_token(path: Path) -> str:
    """Read the token file, making it first (256 random bits, mode 0600) if there is none.

    Of two processes that make it at once both get the same token.

    Raises:
        ConfigError: it can't be read, can't be written or holds no usable token.
    """
    token = read_token(path)
    if token is None:
        with clear_path_errors(path):
            _write_once(path, new_token())
        token = read_token(path)
    if token is None:
        raise ConfigError(f"{path} vanished while it was being made")
    with clear_path_errors(path):
        path.chmod(0o600)
    return token


def _write_once(path: Path, token: str) -> None:
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".token-") as file:
        file.write(token + "\n")
        file.flush()
        try:
            path.hardlink_to(file.name)
        except FileExistsError:
            return
