"""The command line's way to a service: which one, with which token, and what to say when it refuses."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.errors import ConfigError
from core.settings import load_client_settings
from memlane.cli.selectors import selector_of
from memlane.client import Client
from memlane.credentials import FoundToken, configured_token, read_token
from memlane.errors import MemlaneApiError, Unauthorized


@dataclass(frozen=True, slots=True)
class Place:
    """What a command was told about where to go.

    Attributes:
        workspace: id or absolute path.
    """

    url: str | None
    token_file: Path | None
    workspace: str | None


def place_of(*, url: str | None, token_file: Path | None, workspace: str | None) -> Place:
    """Make a place from options, the workspace as a person names it."""
    return Place(url, token_file, None if workspace is None else selector_of(workspace))


@contextmanager
def connected(place: Place) -> Iterator[Client]:
    """Open a client; refusals of the body's calls are told in terms of the options.

    Raises:
        ConfigError: the token or the URL can't be used.
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
    """
    found = _token(place.token_file)
    # a person at a terminal is told at once, and asks again
    with Client(place.url, found.token, retry_s=0) as client:
        try:
            yield client
        except Unauthorized as refusal:
            message = _about_token(client, found)
            raise Unauthorized(message, status=refusal.status, code=refusal.code) from None
        except MemlaneApiError as refusal:
            if refusal.code != "workspace_mismatch" or place.workspace is None:
                raise
            message = _about_workspace(client, place.workspace)
            raise MemlaneApiError(message, status=refusal.status, code=refusal.code) from None


def _token(path: Path | None) -> FoundToken:
    if path is None:
        return configured_token(load_client_settings())
    token = read_token(path)
    if token is None:
        raise ConfigError(f"there is no token file {path}")
    return FoundToken(token, str(path))


def _about_token(client: Client, found: FoundToken) -> str:
    what = "wants a token, and there is none" if found.token is None else "refused the token"
    return f"{client.base_url} {what} in {found.source}; name its token file with --token-file"


def _about_workspace(client: Client, workspace: str) -> str:
    served = ", ".join(one.cwd for one in client.workspaces())
    return f"{client.base_url} does not serve {workspace}; it serves {served}"
