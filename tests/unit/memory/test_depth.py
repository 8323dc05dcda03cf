"""A document can be written exactly as deep as it is listed."""

import pytest

from memory.errors import PathRefused
from memory.index import build_index
from memory.names import MAX_DEPTH
from memory.store import open_store
from tests.support.memory import fenced_task, note


def deep(memory_base, folders):
    return memory_base.user.joinpath(*(f"f{number}" for number in range(folders)), "a.md")


def test_the_deepest_document_that_may_be_written_is_listed(memory_base):
    path = deep(memory_base, MAX_DEPTH)

    memory_base.commit(open_store(memory_base.path), fenced_task(), {path: note()})

    assert "[Tea](" in (memory_base.user / "MEMORY.md").read_text()
    assert list(memory_base.transaction().documents("user")) == [str(path)]


def test_a_document_too_deep_to_be_listed_is_refused_when_it_is_written(memory_base):
    path = deep(memory_base, MAX_DEPTH + 1)
    transaction = memory_base.transaction()

    with pytest.raises(PathRefused, match=f"more than {MAX_DEPTH} folders deep"):
        transaction.write(str(path), note())

    assert transaction.changes == ()
    memory_base.put(path, note())
    assert build_index(memory_base.user) == ""
