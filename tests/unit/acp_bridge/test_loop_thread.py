import asyncio
import threading

import pytest
from structlog.testing import capture_logs

from acp_bridge.errors import AgentKilled, AgentTimeout
from acp_bridge.loop_thread import LoopThread


async def nothing() -> None:
    pass


@pytest.fixture
def loop_thread():
    thread = LoopThread("test-loop")
    yield thread
    thread.close(nothing, bound_s=5)


def test_work_runs_on_the_thread_and_its_result_comes_back(loop_thread):
    async def name() -> str:
        return threading.current_thread().name

    assert loop_thread.run(name, bound_s=5) == "test-loop"


def test_an_error_of_the_work_is_raised_to_the_caller(loop_thread):
    async def fail() -> None:
        raise LookupError("no")

    with pytest.raises(LookupError):
        loop_thread.run(fail, bound_s=5)


def test_a_caller_waits_no_longer_than_its_bound(loop_thread):
    gate = asyncio.Event()

    async def wait() -> None:
        await gate.wait()

    with pytest.raises(AgentTimeout):
        loop_thread.run(wait, bound_s=0.01)
    loop_thread.post(gate.set)


def test_posted_callbacks_run(loop_thread):
    ran = threading.Event()

    loop_thread.post(ran.set)

    assert ran.wait(5)


def test_a_failing_callback_is_logged_and_the_loop_goes_on(loop_thread):
    def fail() -> None:
        raise LookupError("no")

    async def answer() -> int:
        return 42

    with capture_logs() as logs:
        loop_thread.post(fail)
        assert loop_thread.run(answer, bound_s=5) == 42

    assert [line["event"] for line in logs] == ["agent_loop_error"]


def test_after_close_nothing_runs_and_the_thread_is_gone():
    thread = LoopThread("closing-loop")

    thread.close(nothing, bound_s=5)
    thread.close(nothing, bound_s=5)
    thread.post(pytest.fail)

    with pytest.raises(AgentKilled):
        thread.run(nothing, bound_s=5)
    assert "closing-loop" not in [other.name for other in threading.enumerate()]


def test_close_waits_for_work_that_is_under_way():
    thread = LoopThread("closing-loop")
    gate, begun, finished = asyncio.Event(), threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        await gate.wait()
        finished.set()

    async def open_gate() -> None:
        gate.set()

    caller = threading.Thread(target=thread.run, args=[wait], kwargs={"bound_s": 5})
    caller.start()
    assert begun.wait(5)
    thread.close(open_gate, bound_s=5)

    assert finished.is_set()
    caller.join(5)


def test_close_gives_up_on_work_that_never_ends():
    thread = LoopThread("stuck-loop")
    gate = asyncio.Event()

    async def wait() -> None:
        await gate.wait()

    with capture_logs() as logs:
        thread.close(wait, bound_s=0.05)

    assert [line["event"] for line in logs] == ["agent_bridge_close_timeout"]
