import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from acp_bridge.bridge import Bridge, open_bridge
from acp_bridge.limits import Limits
from core import acp
from core.memory_calls import MemoryCall, RememberParams, RememberResult, TaskResult, UndoParams
from tests.support import fake_child
from tests.support.child_processes import running_in_group, wait_until_group_is_gone

QUICK = {"stop_grace_s": 0.2, "settle_s": 0.3, "first_backoff_s": 0.01, "max_backoff_s": 0.05}


@dataclass
class Desk:
    """A bridge on one workspace, with what a test asks of it."""

    bridge: Bridge
    path: Path
    cure: Path
    taken: Path = field(init=False)

    def __post_init__(self):
        self.taken = self.path / "taken"

    def remember(self, content="a fact", *, timeout_ms=20_000, path=None):
        workspace = str(path or self.path)
        params = RememberParams(content=content, cwd=workspace)
        return self.run(MemoryCall(acp.REMEMBER, params, RememberResult), timeout_ms=timeout_ms)

    def run(self, call, *, timeout_ms=20_000, dry_run=False):
        meta = acp.TaskMeta(
            task_id="remember-1", lane_id="test/lane", fence=7, timeout_ms=timeout_ms, dry_run=dry_run
        )
        return self.bridge.run(call.params.cwd, call, meta)

    def resolve(self):
        params = acp.ResolveParams(cwd=str(self.path), task_id="remember-1", lane_id="test/lane", fence=7)
        return self.bridge.resolve(str(self.path), params)

    def available(self):
        return self.bridge.available(str(self.path))

    def undo(self):
        params = UndoParams(cwd=str(self.path), revision="r7")
        return self.run(MemoryCall(acp.UNDO, params, TaskResult))

    def cancel(self, task_id="remember-1"):
        self.bridge.cancel(str(self.path), task_id)

    def kill(self):
        self.bridge.kill(str(self.path))

    def pids(self):
        return fake_child.pids(self.path)

    def leaders(self):
        return fake_child.leaders(self.path)

    def extend(self, ms):
        self.bridge.extend(str(self.path), ms)

    def heal(self):
        """Have children that were opened as curable behave well from their next start on."""
        self.cure.touch()

    def watch_taken(self):
        os.mkfifo(self.taken)

    def wait_taken(self):
        """Block until the child has taken a remember or undo call."""
        assert self.taken.read_text() == "taken"


@pytest.fixture
def open_desk(tmp_path):
    """Opens bridges whose children misbehave as named; afterwards no process may be left."""
    desks: list[Desk] = []

    def open_one(
        behaviour="Child",
        *,
        once=False,
        curable=False,
        command=None,
        idle_s=60.0,
        resolver="Child",
        keep_fds=(),
        **limits,
    ):
        path = tmp_path / f"workspace-{len(desks)}"
        path.mkdir()
        marker = tmp_path / f"marker-{len(desks)}" if once else None
        cure = tmp_path / f"cure-{len(desks)}"
        child = fake_child.command(behaviour, first_only=marker, until=cure if curable else None)
        bridge = open_bridge(
            command=command or child,
            own_command=fake_child.command(resolver),
            environment=os.environ,
            idle_s=idle_s,
            limits=Limits(**(QUICK | limits)),
            keep_fds=keep_fds,
        )
        desks.append(Desk(bridge, path, cure))
        return desks[-1]

    yield open_one
    for desk in desks:
        desk.bridge.close()
    for listing in tmp_path.glob(f"*/{fake_child.STARTED}"):
        for group in fake_child.leaders(listing.parent):
            wait_until_group_is_gone(group)
            assert running_in_group(group) == []


@pytest.fixture
def caller():
    """Runs a blocking call on another thread."""
    with ThreadPoolExecutor(4) as pool:
        yield pool
