"""The client of Slack's Web API: what it answers, and how it refuses."""

from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from channels.adapters.slack.connection import SocketConnection
from channels.adapters.slack.options import SlackOptions
from channels.adapters.slack.proxies import proxy_for
from channels.adapters.slack.refusals import NOT_SLACK_S, SlackRefused, no_answer, refusal_in
from channels.arrivals import Media
from channels.errors import FileNotFetched
from channels.files import MAX_FILE_BYTES
from channels.timers import Timers, in_time

CALL_LIMIT_MS = 30_000
HEARTBEAT_S = 20.0
CLOSE_LIMIT_S = 2.0
MAX_FRAME_BYTES = 4 * 1024 * 1024
FILE_HOST = "slack.com"
HTML = "text/html"

# what the client raises for an answer of a shape that it does not know
_UNREADABLE = (TypeError, KeyError, ValueError, AttributeError)
_AWAY = (aiohttp.ClientError, OSError)


class SlackApi:
    """Calls for one bot. Connects when it is first used, on the event loop that runs then."""

    def __init__(self, token: str, options: SlackOptions, timers: Timers) -> None:
        self._token = token
        self._options = options
        self._timers = timers
        self._session: aiohttp.ClientSession | None = None
        self._client: AsyncWebClient | None = None

    async def close(self) -> None:
        """Close its connections."""
        session, self._session, self._client = self._session, None, None
        if session is not None:
            await session.close()

    async def bot_id(self) -> str:
        """Learn the bot's user id.

        Raises:
            SlackRefused: see there; so do all others.
        """
        return _text(await self._ask(self._web().auth_test()), "user_id")

    async def post(self, chat_id: str, text: str, *, thread_id: str | None) -> str:
        """Post mrkdwn and return the message's id; addresses in it are not unfolded."""
        call = self._web().chat_postMessage(
            channel=chat_id, text=text, thread_ts=thread_id, unfurl_links=False, unfurl_media=False
        )
        return _text(await self._ask(call), "ts")

    @asynccontextmanager
    async def socket(self, app_token: str) -> AsyncIterator[SocketConnection]:
        """Hold a connection on which events come; it has said hello, and is closed in the end."""
        call = self._web().apps_connections_open(app_token=app_token)
        url = _text(await self._ask(call), "url")
        if not url.startswith(("ws://", "wss://")):
            raise SlackRefused(NOT_SLACK_S)
        target = url.replace("ws", "http", 1)  # by HTTP's schemes, for which the environment may name a proxy
        async with AsyncExitStack() as cleanup:
            try:
                connection = await in_time(self._greeted(target, cleanup), CALL_LIMIT_MS, self._timers)
            except _AWAY as error:
                raise no_answer(error) from None
            yield connection

    async def _greeted(self, target: str, cleanup: AsyncExitStack) -> SocketConnection:
        """Connect; the caller closes it, who may be called off just when it is there."""
        socket = await self._http().ws_connect(
            target,
            proxy=self._proxy(target),
            heartbeat=HEARTBEAT_S,
            max_msg_size=MAX_FRAME_BYTES,
            timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_LIMIT_S),
        )
        cleanup.push_async_callback(socket.close)
        connection = SocketConnection(socket)
        await connection.greet()
        return connection

    async def download(self, media: Media) -> bytes:
        """See ``FileSource``. Nobody but Slack is shown the token."""
        if not self._is_slack_s(media.file_id):
            raise FileNotFetched("the file is not at Slack")
        try:
            return await self._content(media)
        except _AWAY as error:
            raise FileNotFetched(str(no_answer(error))) from None
        except SlackRefused as refused:
            raise FileNotFetched(str(refused)) from None

    async def _content(self, media: Media) -> bytes:
        url, is_page = media.file_id, media.mime_type == HTML
        headers = {"Authorization": f"Bearer {self._token}"}
        # whom Slack does not let in, it sends to its page for logging in, or shows it
        async with self._http().get(
            url, headers=headers, proxy=self._proxy(url), allow_redirects=False
        ) as answer:
            if answer.status != 200 or (answer.content_type == HTML and not is_page):
                raise FileNotFetched(f"Slack: status {answer.status}")
            content = bytearray()
            async for piece in answer.content.iter_any():
                content += piece
                if len(content) > MAX_FILE_BYTES:
                    raise FileNotFetched("Slack: too large", is_too_large=True)
            return bytes(content)

    async def _ask(self, call: Coroutine[Any, Any, AsyncSlackResponse]) -> Mapping[str, Any]:
        try:
            answer = await in_time(call, CALL_LIMIT_MS, self._timers)
        except SlackApiError as error:
            raise refusal_in(error.response) from None
        except _AWAY as error:
            raise no_answer(error) from None
        except _UNREADABLE:
            raise SlackRefused(NOT_SLACK_S, is_unsure=True) from None
        return answer.data if isinstance(answer.data, dict) else {}

    def _web(self) -> AsyncWebClient:
        if self._client is None:
            # no retries: a repeat is ours to decide, as Slack knows no message again
            self._client = AsyncWebClient(
                self._token, base_url=self._options.api_url, session=self._http(), retry_handlers=[]
            )
        # what it found in the environment by itself holds for every host
        self._client.proxy = self._proxy(self._options.api_url)
        return self._client

    def _http(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        return self._session

    def _proxy(self, url: str) -> str | None:
        return proxy_for(url, self._options.proxy)

    def _is_slack_s(self, url: str) -> bool:
        own = urlsplit(self._options.api_url)
        try:
            address = urlsplit(url)
        except ValueError:
            return False
        if (address.scheme, address.netloc) == (own.scheme, own.netloc):
            return True
        host = address.hostname or ""
        return address.scheme == "https" and (host == FILE_HOST or host.endswith(f".{FILE_HOST}"))


def _text(answer: Mapping[str, Any], key: str) -> str:
    value = answer.get(key)
    if not isinstance(value, str) or not value:
        raise SlackRefused(NOT_SLACK_S, is_unsure=True)
    return value
