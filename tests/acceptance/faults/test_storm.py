"""A minute of everything at once. A longer one: ``python -m bench.storm``."""

from pathlib import Path

import pytest

from bench.storm import run_storm


@pytest.mark.timeout(400)
def test_a_minute_of_chaos_breaks_no_promise(tmp_path: Path):
    report = run_storm(tmp_path, seconds=60, lanes=12, seed=20)

    assert report.violations == [], report
    assert report.completed > 0
    assert min(report.kills, report.stops, report.redis_kills) > 0
