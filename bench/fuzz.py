"""`memlane bench fuzz`: made-up requests by the ten thousand, every answer held against what is described."""

from collections.abc import Callable
from pathlib import Path

from bench.report import Report
from bench.stopwatch import now_ns
from core.ids import workspace_id
from tests.support.fuzz import fuzz
from tests.support.memlane_up import running_memlane

COLUMNS = ("requests", "answers not described", "seconds")
NS_PER_S = 1e9


def measure_fuzz(folder: Path, *, examples: int, tell: Callable[[str], None]) -> Report:
    """Fuzz a whole service of its own, tasks and all.

    Args:
        folder: for the service, empty.
        examples: how many requests to make up for each operation.
    """
    with running_memlane(folder) as service:
        tell(f"fuzzing {service.url}, up to {examples} requests an operation")
        started_ns = now_ns()
        run = fuzz(
            service,
            workspace_id(str((folder / "workspace").resolve())),
            folder=folder,
            examples=examples,
            phases="examples,coverage,fuzzing",
        )
        seconds = (now_ns() - started_ns) / NS_PER_S
    if not run.passed:
        tell(run.output)
    row = (f"{run.examples:,}", "none" if run.passed else "some", f"{seconds:.0f}")
    return Report("Made-up requests", COLUMNS, [row], passed=run.passed)
