"""The tokens that open the web, as they are now: the owner's, and those of the tokens file."""

import os
from collections.abc import Sequence

from core.errors import ConfigError
from core.ids import WorkspaceId, workspace_id
from core.logs import get_logger
from core.settings import Settings
from memlane.credentials import token_file
from memlane.site import token_of
from memlane.token_file import FileState, StoredToken, TokenFile
from web.keyring import Keyring, KnownToken, owners_token
from web.principal import Principal

_log = get_logger(__name__)


class WatchedTokens:
    """Follows a tokens file: what is changed there holds from the next request on, without a restart."""

    def __init__(self, file: TokenFile, owner: KnownToken | None) -> None:
        """Read the file for the first time.

        Args:
            owner: the token that the service was started with; None if there is none.

        Raises:
            ConfigError: the file can't be used.
        """
        self._file = file
        self._owners = () if owner is None else (owner,)
        self._state: FileState = file.state()  # before it is read: a change in between is seen next time
        self._known = self._read()

    def current(self) -> Sequence[KnownToken]:
        """The tokens that are good now; those of before while the file can't be used, which is logged."""
        state = self._file.state()
        if state != self._state:
            self._state = state
            try:
                self._known = self._read()
            except ConfigError as error:
                _log.error("tokens_file_unusable", reason=str(error))
            else:
                _log.info("tokens_file_read", tokens=len(self._known) - len(self._owners))
        return self._known

    def _read(self) -> Sequence[KnownToken]:
        return (*self._owners, *map(_known, self._file.read()))


def open_keyring(settings: Settings) -> Keyring:
    """Open the tokens of an installation that exists already: the owner's and the named ones.

    Raises:
        ConfigError: there is none at all, and the web never runs without; or one can't be used.
    """
    token = token_of(settings)
    owner = None if token is None else owners_token(token)
    tokens = WatchedTokens(TokenFile(settings.tokens_path), owner)
    if not tokens.current():
        path = token_file(settings.home)
        raise ConfigError(
            f"there is no token; set MEMLANE_TOKEN, write one to {path}, or make one with `memlane token new`"
        )
    return Keyring(tokens.current)


def _known(stored: StoredToken) -> KnownToken:
    limited = None if stored.workspaces is None else frozenset(map(_workspace, stored.workspaces))
    expires_ms = None if stored.expires is None else int(stored.expires.timestamp() * 1000)
    return KnownToken(bytes.fromhex(stored.sha256), Principal(stored.name, stored.role, limited), expires_ms)


def _workspace(selector: str) -> WorkspaceId:
    return workspace_id(os.path.realpath(selector)) if selector.startswith("/") else WorkspaceId(selector)
