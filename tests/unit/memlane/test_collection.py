import gc
from collections.abc import Iterator

import pytest

from memlane.collection import collection_paused


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_nothing_is_collected_in_the_block_and_what_was_made_is_left_alone_later() -> None:
    with collection_paused():
        assert not gc.isenabled()

    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_an_import_that_fails_leaves_the_collector_on() -> None:
    with pytest.raises(ImportError), collection_paused():
        raise ImportError

    assert gc.isenabled()
