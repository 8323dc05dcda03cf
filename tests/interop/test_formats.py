"""Files that the real `qwen --acp` writes, with nothing of ours beside it, are ours byte for byte."""

import asyncio
import os
from pathlib import Path

import pytest

from acp_bridge import methods
from acp_bridge.connection import Connection
from acp_bridge.environment import child_environment
from acp_bridge.limits import Limits
from acp_bridge.process import Launch
from core import acp
from core.memory_calls import MemoryCall, RememberParams, RememberResult
from memory.index import build_index
from memory.paths import find_roots
from tests.support import reference
from tests.support.scripted_model import calls, document, scripted_model

pytestmark = pytest.mark.interop

NAMES = ["Tea", "Ünïcode `code` ](x", "A\u202eb", "長い" * 20]
"""Names whose lines fit: of a longer line the reference keeps the first 150 units, and ours a whole link."""


def test_the_child_is_a_foreign_one_and_its_index_is_what_ours_would_be(tmp_path: Path):
    workspace, base = tmp_path / "workspace", tmp_path / "base"
    for folder in (workspace, base):
        folder.mkdir()
    reference.write_quiet_settings(tmp_path)
    roots = find_roots(base, str(workspace))
    script = [
        calls(("write_file", {"file_path": str(roots.user / "user" / f"{number}.md"), "content": text}))
        for number, text in enumerate(document(name=name) for name in NAMES)
    ]
    with scripted_model(script) as model:
        own = {"HOME": str(tmp_path), "QWEN_CODE_MEMORY_BASE_DIR": str(base), "PATH": os.environ["PATH"]}
        launch = Launch(
            tuple(reference.command(tmp_path / "places")), child_environment(own | model.settings), Limits()
        )
        asyncio.run(remember_all(launch, str(workspace)))

    assert len(list(roots.user.glob("*/*.md"))) == len(NAMES)
    assert (roots.user / "MEMORY.md").read_text() == build_index(roots.user)
    assert (roots.project / "MEMORY.md").read_text() == ""


async def remember_all(launch: Launch, workspace: str) -> None:
    connection = Connection(launch, workspace)
    await connection.open()
    try:
        assert not connection.speaks_memlane
        assert await methods.available(connection, workspace, limit_s=10)
        for name in NAMES:
            call = MemoryCall(acp.REMEMBER, RememberParams(content=name, cwd=workspace), RememberResult)
            meta = acp.TaskMeta(task_id="remember-1", lane_id="test/lane", fence=1)
            result = await methods.run(connection, call, meta=meta, limit_s=30)
            assert result.touched_scopes == ["user"]
    finally:
        await connection.stop()
