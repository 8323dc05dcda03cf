"""Who asks: the client id that a request carries, and what it lets see."""

from werkzeug.wrappers import Request

from core.ids import ClientId, is_client_id
from core.workspaces import Workspace
from events.errors import InvalidClientId
from events.sessions import Caller, ClientSessions
from jobs.viewer import Viewer
from web.keyring import DEFAULT_NAME
from web.principal import principal_of

CLIENT_ID_HEADER = "X-Qwen-Client-Id"


def caller_of(request: Request) -> Caller:
    """Read who asks, registered or not; an empty header says nothing.

    Raises:
        InvalidClientId: the client id is malformed.
    """
    given = request.headers.get(CLIENT_ID_HEADER, "")
    if given and not is_client_id(given):
        raise InvalidClientId(f"`{CLIENT_ID_HEADER}` must be a non-empty token of 128 characters or fewer")
    return Caller(principal_of(request).id, ClientId(given) if given else None)


class Callers:
    """Tells who asks for something in a workspace, of those that are registered there."""

    def __init__(self, sessions: ClientSessions) -> None:
        self._sessions = sessions

    def client_of(self, request: Request, workspace: Workspace) -> ClientId | None:
        """Find out as which client a request was sent; None when it doesn't say.

        Raises:
            InvalidClientId: malformed, or not registered for the workspace by this token.
            StorageUnavailable: whether it is registered can't be told.
        """
        caller = caller_of(request)
        if caller.client is not None and not self._sessions.owns(workspace.id, caller):
            raise InvalidClientId(
                f'Client id "{caller.client}" is not registered for this workspace', client_id=caller.client
            )
        return caller.client

    def viewer_of(self, request: Request, workspace: Workspace) -> Viewer:
        """Find out whose tasks a request may see: the client's own, an operator all.

        The owner's token is its users' as well, and clients of the contract hide their tasks from each other
        by their ids alone: with it nobody sees what is another's.

        Raises:
            InvalidClientId, StorageUnavailable: as for ``client_of``.
        """
        principal = principal_of(request)
        sees_all = principal.has_role("operator") and principal.id != DEFAULT_NAME
        return Viewer(self.client_of(request, workspace), sees_all=sees_all)
