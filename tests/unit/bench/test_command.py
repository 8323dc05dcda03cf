import pytest

from memlane.cli.bench import NoBenchmarks, run
from memlane.cli.exits import Exit, exit_of


def test_without_a_checkout_the_command_says_how_to_get_one(tmp_path):
    with pytest.raises(NoBenchmarks, match=r"\./dev bench") as caught:
        run(["lanes"], checkout=tmp_path)

    assert exit_of(caught.value) == Exit.USAGE
