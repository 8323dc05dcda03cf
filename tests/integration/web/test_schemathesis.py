"""Made-up requests, right ones and wrong ones, at every route of a whole service."""

from pathlib import Path

import pytest

from tests.support.fuzz import fuzz
from tests.support.memlane_up import running_memlane
from tests.support.service import id_of

NAMED = "^/workspaces/"  # the same views as the primary's paths; `./dev bench fuzz` asks them, too


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("unmeasured")
def test_every_answer_to_made_up_requests_is_described(tmp_path: Path) -> None:
    with running_memlane(tmp_path) as service:
        run = fuzz(
            service,
            id_of(tmp_path / "workspace"),
            folder=tmp_path,
            examples=2,
            phases="examples,fuzzing",
            skipped=NAMED,
        )

    assert run.passed, run.output
    assert run.examples > 50
