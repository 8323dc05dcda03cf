import pytest

from core.errors import InputError
from web.offload import offload


def refuse() -> None:
    raise InputError("not like this")


def test_what_work_finds_out_comes_back() -> None:
    assert offload(lambda: 7) == 7


def test_a_refusal_comes_through_and_is_nothing_to_write_about(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="not like this"):
        offload(refuse)

    assert capfd.readouterr().err == ""
