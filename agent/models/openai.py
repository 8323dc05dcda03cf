"""Any model that speaks OpenAI chat completions, streamed.

The SDK takes about a second to import, so it is imported with the first call.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agent.deadline import Deadline
from agent.errors import ModelRejected, ModelUnavailable, TaskCancelled
from agent.models.completion import Completion, UnreadableReply
from agent.models.interface import Message, Reply, ToolSpec
from agent.models.retrying import backoff_ms, retry_after_ms
from core.clock import wall_ms
from core.logs import get_logger
from core.settings import ModelSettings

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, AsyncOpenAI

MAX_TRIES = 4
CONNECT_TIMEOUT_S = 10.0
MAX_BODY_BYTES = 4_000_000
DEFAULT_BASE_URL = "https://api.openai.com/v1"
_EVENT_STREAM = "text/event-stream"  # what is none is read as a whole, then judged
_DONE = "[DONE]"
_DRAIN_S = 0.1
_CLOCK_CHECK_S = 1.0  # the event loop's clock stands still while the machine sleeps, the deadline's does not

_log = get_logger(__name__)


class _TryAgain(Exception):
    """This try failed in a way that another one may cure."""

    def __init__(self, reason: str, *, pause_ms: int | None = None) -> None:
        super().__init__(reason)
        self.pause_ms = pause_ms


class _Ear:
    """Who listens to an answer, if anybody, and whether anything was heard of it."""

    def __init__(self, listener: Callable[[str], None] | None = None) -> None:
        self.has_heard = False
        self._listener = listener

    def hear(self, text: str) -> None:
        """Pass on a piece of the answer."""
        if self._listener is not None:
            self.has_heard = True
            self._listener(text)


class OpenAIModel:
    """A chat completions server; one instance keeps its connections, for use by one thread."""

    def __init__(
        self, settings: ModelSettings, *, name: str | None = None, temperature: float | None = None
    ) -> None:
        """Connect nothing yet.

        Args:
            settings: with a model name and a key or a base URL.
            name: another model of the same server.
            temperature: None leaves it to the server.
        """
        self._settings = settings
        self._name = name or settings.openai_model or ""
        self._options = {} if temperature is None else {"temperature": temperature}
        self._runner = asyncio.Runner()
        self._client: AsyncOpenAI | None = None

    @property
    def name(self) -> str:
        """The model's name on its server."""
        return self._name

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        """Ask the server.

        Tries again, within the deadline, only on 429, 5xx, broken connections and answers that break off.

        Raises:
            ModelRejected: any other 4xx.
            ModelUnavailable: the tries are used up, the server asks for too long a wait, or its answer
                can't be read.
            TaskTimeout: the deadline passed; the connection is closed.
            TaskCancelled: the call was called off; the connection is closed, at once.
        """
        return self._ask_for(messages, tools, deadline=deadline, ear=_Ear())

    def speak(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        deadline: Deadline,
        hear: Callable[[str], None],
    ) -> Reply:
        """Ask the server, and hear its answer as it comes; as ``complete`` otherwise.

        What was heard can't be taken back, so that an answer which breaks off then is not asked for again.
        """
        return self._ask_for(messages, tools, deadline=deadline, ear=_Ear(hear))

    def close(self) -> None:
        """Close connections and the event loop."""
        if self._client is not None:
            self._runner.run(self._client.close())
        self._runner.close()

    def _ask_for(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline, ear: _Ear
    ) -> Reply:
        request = {
            "model": self.name,
            "messages": [_wire_message(message) for message in messages],
            "tools": [_wire_tool(tool) for tool in tools],
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._options,
        }
        try:
            return self._runner.run(self._until_called_off(request, deadline, ear))
        except asyncio.CancelledError:
            raise TaskCancelled("it was called off") from None

    async def _until_called_off(self, request: dict[str, Any], deadline: Deadline, ear: _Ear) -> Reply:
        asking = asyncio.ensure_future(self._complete(request, deadline, ear))
        loop = asyncio.get_running_loop()
        with deadline.cancellation.waking(lambda: loop.call_soon_threadsafe(asking.cancel)):
            return await asking

    async def _complete(self, request: dict[str, Any], deadline: Deadline, ear: _Ear) -> Reply:
        number = 1
        while True:
            try:
                return await self._within_limits(lambda: self._try(request, ear), deadline)
            except _TryAgain as failed:
                _log.warning("model_try_failed", number=number, reason=str(failed))
                pause_ms = backoff_ms(number) if failed.pause_ms is None else failed.pause_ms
                if number == MAX_TRIES or ear.has_heard or pause_ms >= deadline.remaining_ms():
                    raise ModelUnavailable(f"The model server did not answer: {failed}") from None
            await asyncio.sleep(pause_ms / 1000)
            number += 1

    async def _within_limits(self, start: Callable[[], Awaitable[Reply]], deadline: Deadline) -> Reply:
        limit = Deadline.after(int(self._settings.model_timeout_s * 1000))
        asked = asyncio.ensure_future(start())
        try:
            while not asked.done():
                deadline.check()
                if limit.remaining_ms() == 0:
                    raise ModelUnavailable("The model server took too long for one answer")
                left_s = min(deadline.remaining_ms(), limit.remaining_ms()) / 1000
                await asyncio.wait({asked}, timeout=min(left_s, _CLOCK_CHECK_S))
            return asked.result()
        finally:
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)

    async def _try(self, request: dict[str, Any], ear: _Ear) -> Reply:
        import httpx2
        import openai

        try:
            return await self._ask(request, ear)
        except openai.APIStatusError as error:
            raise _of_status(error) from None
        except openai.APIConnectionError:
            raise _TryAgain("the connection failed") from None
        except httpx2.InvalidURL:
            raise ModelUnavailable("The model server's address is no URL") from None
        except (openai.OpenAIError, UnreadableReply, ValueError):
            raise ModelUnavailable("The model server's answer could not be read") from None

    async def _ask(self, request: dict[str, Any], ear: _Ear) -> Reply:
        import httpx2

        answer = await self._open_client().chat.completions.with_raw_response.create(**request)
        response = answer.http_response
        is_stream = response.headers.get("content-type", "").lower().startswith(_EVENT_STREAM)
        try:
            return await (_read_events if is_stream else _read_body)(response, Completion(ear.hear))
        except httpx2.SSEError:
            raise UnreadableReply("an endless event") from None
        except httpx2.RequestError:
            raise _TryAgain("the connection broke") from None
        finally:
            await response.aclose()

    def _open_client(self) -> "AsyncOpenAI":
        if self._client is None:
            import openai

            settings = self._settings
            key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none"
            timeout = openai.Timeout(None, connect=CONNECT_TIMEOUT_S)  # the rest is bounded as a whole
            # without an address the SDK would look at the environment itself, where it may be set but empty
            base_url = settings.openai_base_url or DEFAULT_BASE_URL
            self._client = openai.AsyncOpenAI(api_key=key, base_url=base_url, timeout=timeout, max_retries=0)
        return self._client


async def _read_events(response: "httpx2.Response", completion: Completion) -> Reply:
    """Read a streamed answer, which is whole only if the server said so.

    Raises:
        _TryAgain: the stream ended in the middle of the answer.
    """
    import httpx2

    is_done = False
    events = aiter(httpx2.EventSource(response, max_event_size=MAX_BODY_BYTES))
    async for event in events:
        if event.data.startswith(_DONE):
            is_done = True
            break
        if event.data:
            completion.add(event.data)
    if is_done:
        await _drain(events)
    elif not completion.is_finished:
        raise _TryAgain("the answer broke off")
    return completion.reply()


async def _drain(events: AsyncIterator[Any]) -> None:
    """Take what comes after the end, so that the connection can be used again; not for long."""
    import httpx2

    with suppress(TimeoutError, httpx2.RequestError):
        async with asyncio.timeout(_DRAIN_S):
            async for _ in events:
                pass


async def _read_body(response: "httpx2.Response", completion: Completion) -> Reply:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            raise UnreadableReply("an endless answer")
    completion.add(bytes(body))
    return completion.reply()


def _of_status(error: "APIStatusError") -> Exception:
    status = error.status_code
    if status == 429 or status >= 500:
        asked = error.response.headers.get("retry-after", "")
        return _TryAgain(f"HTTP {status}", pause_ms=retry_after_ms(asked, now_ms=wall_ms()))
    return ModelRejected(status)


def _wire_message(message: Message) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def _wire_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}
