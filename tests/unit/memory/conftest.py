import pytest

from tests.support.memory import Bench


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(tmp_path)
