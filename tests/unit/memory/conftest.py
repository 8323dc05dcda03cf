"""Fixtures of tests about tasks whose agent writes to the roots by itself."""

from pathlib import Path

import pytest

from tests.support.direct_tasks import Lane
from tests.support.memory import MemoryBase, note


@pytest.fixture
def lane(memory_base: MemoryBase) -> Lane:
    return Lane(memory_base)


@pytest.fixture
def tea(memory_base: MemoryBase) -> Path:
    """A document that no task wrote."""
    return memory_base.put(memory_base.user / "user" / "tea.md", note())
