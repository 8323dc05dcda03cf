"""Any model that speaks OpenAI chat completions, streamed.

The SDK takes about a second to import, so it is imported with the first call.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from agent.deadline import Deadline
from agent.errors import ModelRejected, ModelUnavailable
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
_WHOLE_ANSWER_TYPES = ("application/json", "text/html")  # what is no event stream is read, then judged
_CLOCK_CHECK_S = 1.0  # the event loop's clock stands still while the machine sleeps, the deadline's does not

_log = get_logger(__name__)


class _TryAgain(Exception):
    """This try failed in a way that another one may cure."""

    def __init__(self, reason: str, *, pause_ms: int | None = None) -> None:
        super().__init__(reason)
        self.pause_ms = pause_ms


class OpenAIModel:
    """A chat completions server; one instance keeps its connections, for use by one thread."""

    def __init__(self, settings: ModelSettings) -> None:
        """Connect nothing yet.

        Args:
            settings: with a model name and a key or a base URL.
        """
        self._settings = settings
        self._runner = asyncio.Runner()
        self._client: AsyncOpenAI | None = None

    @property
    def name(self) -> str:
        """The model's name on its server."""
        return self._settings.openai_model or ""

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        """Ask the server; tries again only on 429, 5xx and broken connections, within the deadline.

        Raises:
            ModelRejected: any other 4xx.
            ModelUnavailable: the tries are used up, the server asks for too long a wait, or its answer
                can't be read.
            TaskTimeout: the deadline passed; the connection is closed.
        """
        request = {
            "model": self.name,
            "messages": [_wire_message(message) for message in messages],
            "tools": [_wire_tool(tool) for tool in tools],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        return self._runner.run(self._complete(request, deadline))

    def close(self) -> None:
        """Close connections and the event loop."""
        if self._client is not None:
            self._runner.run(self._client.close())
        self._runner.close()

    async def _complete(self, request: dict[str, Any], deadline: Deadline) -> Reply:
        number = 1
        while True:
            try:
                return await self._within_limits(lambda: self._try(request), deadline)
            except _TryAgain as failed:
                _log.warning("model_try_failed", number=number, reason=str(failed))
                pause_ms = backoff_ms(number) if failed.pause_ms is None else failed.pause_ms
                if number == MAX_TRIES or pause_ms >= deadline.remaining_ms():
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

    async def _try(self, request: dict[str, Any]) -> Reply:
        import openai

        try:
            return await self._ask(request)
        except openai.APIStatusError as error:
            raise _of_status(error) from None
        except openai.APIConnectionError:
            raise _TryAgain("the connection failed") from None
        except (openai.APIError, UnreadableReply, ValueError):
            raise ModelUnavailable("The model server's answer could not be read") from None

    async def _ask(self, request: dict[str, Any]) -> Reply:
        completion = Completion()
        answer = await self._open_client().chat.completions.with_raw_response.create(**request)
        if answer.headers.get("content-type", "").startswith(_WHOLE_ANSWER_TYPES):
            completion.add(await _read_body(answer.http_response))
        else:
            async with answer.parse() as stream:
                async for chunk in stream:
                    completion.add(chunk.to_dict(warnings=False))
        return completion.reply()

    def _open_client(self) -> "AsyncOpenAI":
        if self._client is None:
            import openai

            settings = self._settings
            key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none"
            timeout = openai.Timeout(None, connect=CONNECT_TIMEOUT_S)  # the rest is bounded as a whole
            self._client = openai.AsyncOpenAI(
                api_key=key, base_url=settings.openai_base_url, timeout=timeout, max_retries=0
            )
        return self._client


async def _read_body(response: "httpx2.Response") -> bytes:
    import httpx2

    body = bytearray()
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > MAX_BODY_BYTES:
                raise UnreadableReply("an endless answer")
    except httpx2.RequestError:
        raise _TryAgain("the connection broke") from None
    finally:
        await response.aclose()
    return bytes(body)


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
