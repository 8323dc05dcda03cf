"""One event loop on one daemon thread, with blocking calls for all other threads."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from acp_bridge.errors import AgentKilled, AgentTimeout
from core.logs import get_logger

_T = TypeVar("_T")

_log = get_logger(__name__)


class LoopThread:
    """Runs coroutines for threads that can't. Make it after any fork."""

    def __init__(self, name: str) -> None:
        """Start the thread under this name."""
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_log_failure)
        self._gate = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Callable[[], Coroutine[Any, Any, _T]], *, bound_s: float) -> _T:
        """Run ``work()`` on the loop and block until it is done.

        Raises:
            AgentKilled: the thread has been closed.
            AgentTimeout: the loop didn't finish within ``bound_s``; the work goes on.
        """
        with self._gate:
            if self._closed:
                raise AgentKilled("the bridge is closed")
            future = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            return future.result(bound_s)
        except TimeoutError:
            raise AgentTimeout(f"the bridge itself did not answer within {bound_s:g} s") from None

    def post(self, callback: Callable[[], None]) -> None:
        """Have the loop call ``callback`` soon, without waiting; dropped once closed."""
        with self._gate:
            if not self._closed:
                self._loop.call_soon_threadsafe(callback)

    def close(self, last_work: Callable[[], Coroutine[Any, Any, None]], *, bound_s: float) -> None:
        """Accept nothing more, run ``last_work()``, see all other work end, end the thread.

        The work is given up after ``bound_s``; the thread ends all the same. A second call does nothing.
        """
        with self._gate:
            if self._closed:
                return
            self._closed = True
            future = asyncio.run_coroutine_threadsafe(_finish(last_work), self._loop)
        try:
            future.result(bound_s)
        except TimeoutError:
            _log.error("agent_bridge_close_timeout", bound_s=bound_s)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(bound_s)

    def _serve(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()


async def _finish(last_work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    await last_work()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others)


def _log_failure(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    _log.error("agent_loop_error", reason=context["message"], exc_info=context.get("exception"))
