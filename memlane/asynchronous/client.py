"""The client: every call of the service, and its settings."""

from collections.abc import AsyncGenerator
from types import TracebackType
from typing import Self

from core.settings import load_client_settings
from memlane.addresses import base_of
from memlane.answers import parsed
from memlane.asynchronous.events import follow
from memlane.asynchronous.memory import MemoryCalls
from memlane.asynchronous.operators import OperatorCalls
from memlane.asynchronous.revisions import RevisionCalls
from memlane.asynchronous.sessions import AsyncSession
from memlane.asynchronous.submissions import SubmissionCalls
from memlane.asynchronous.tasks import TaskCalls
from memlane.asynchronous.transport import Transport
from memlane.credentials import check_client_id, check_token, configured_token
from memlane.errors import Unavailable
from memlane.models import Capabilities, Event, ServedWorkspace
from memlane.patience import Limits
from memlane.request import reading, signal
from memlane.session_models import SessionEntry


class AsyncClient(SubmissionCalls, TaskCalls, MemoryCalls, RevisionCalls):
    """Talks to one service; close it, or use it in a ``with`` statement.

    Several threads may share a ``memlane.Client``, and the tasks of one event loop a ``memlane.AsyncClient``.
    """

    def __init__(  # noqa: PLR0913 - one keyword for each setting
        self,
        base_url: str | None = None,
        token: str | None = None,
        *,
        limit_s: float = 10.0,
        reconnect_s: float = 1.0,
        wait_for_place_s: float = 0.0,
        retry_s: float = 20.0,
        client_id: str | None = None,
    ) -> None:
        """Prepare a client; nothing is sent yet.

        Args:
            base_url: ``MEMLANE_URL`` unless given, ``http://127.0.0.1:4170`` if that is unset, too.
            token: ``MEMLANE_TOKEN`` unless given, else what ``<MEMLANE_HOME>/token`` holds, else none.
            limit_s: longest wait for one answer, seconds.
            reconnect_s: pause before a lost event stream is asked for again, seconds; it grows while that is
                in vain.
            wait_for_place_s: longest wait for a place in a full lane, seconds; 0 means none.
            retry_s: how long a call is tried again while the service is away, overloaded or has had too many
                requests, seconds from its start; 0 means one try. What could be done twice by it is not.
            client_id: who asks, as an earlier ``attach`` gave it; only the same id sees its tasks.

        Raises:
            ConfigError: the URL is none, token or client id can't be sent, or a setting can't be used.
        """
        settings = load_client_settings()
        chosen = configured_token(settings).token if token is None else check_token(token, source="the call")
        self._reconnect_s = reconnect_s
        super().__init__(
            Transport(
                base_url or settings.url,
                chosen,
                limit_s=limit_s,
                limits=Limits(retry_s=retry_s, place_s=wait_for_place_s),
                client_id=check_client_id(client_id),
            )
        )

    @property
    def base_url(self) -> str:
        """Where the service is looked for."""
        return self._transport.base_url

    @property
    def client_id(self) -> str | None:
        """Who asks; None leaves it open."""
        return self._transport.client_id

    @property
    def operators(self) -> OperatorCalls:
        """What a token with the role ``operator`` can look at and do."""
        return OperatorCalls(self._transport)

    def events(
        self, *, last_event_id: int | None = None, workspace: str | None = None
    ) -> AsyncGenerator[Event]:
        """Follow a workspace's events; a lost connection is resumed where it broke. It never ends by itself.

        Args:
            last_event_id: id of the last event already seen; None starts with what happens from now on.
            workspace: id or absolute path of a configured one; None means the primary.

        Raises:
            MemlaneApiError: refused.
            Unreachable: the first connection failed; later ones are tried again for ever.
        """
        path = f"{base_of(workspace)}/events"
        return follow(self._transport, path, last_event_id=last_event_id, reconnect_s=self._reconnect_s)

    async def attach(self, workspace: str | None = None, *, shared: bool = True) -> AsyncSession:
        """Take part in a session, and be from now on the client that the service made of it.

        Tasks that are asked for afterwards can be seen with this client's id only. A client that has one
        already keeps it if the service knows it.

        Args:
            workspace: absolute path of a configured one; None means the primary.
            shared: take the session that all share; else a new one.

        Raises:
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        body = {"sessionScope": "single" if shared else "thread", **({"cwd": workspace} if workspace else {})}
        # asking twice leaves no more behind than an id that nobody uses
        answer = await self._transport.send(signal("/session", body, is_repeatable=True))
        entry = parsed(SessionEntry, answer)
        self._transport.client_id = entry.client_id
        return AsyncSession(self._transport, entry, reconnect_s=self._reconnect_s)

    async def capabilities(self) -> Capabilities:
        """Read what the service can do.

        Raises:
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        return parsed(Capabilities, await self._transport.send(reading("/capabilities")))

    async def workspaces(self) -> tuple[ServedWorkspace, ...]:
        """List what the service serves, the primary one first.

        Raises:
            Same as ``capabilities``.
        """
        return (await self.capabilities()).workspaces

    async def is_ready(self) -> bool:
        """Tell whether the service would accept tasks and keep them, without trying again.

        Raises:
            MemlaneApiError: refused for another reason, such as the name that it was addressed by.
            Unreachable: no answer.
        """
        try:
            await self._transport.send_once(reading("/health/ready"))
        except Unavailable:
            return False
        return True

    async def aclose(self) -> None:
        """Close the connections; repeating it does nothing."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
