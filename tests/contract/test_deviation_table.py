"""The table in docs/http.md and the list the tests run on are one list."""

import re
from pathlib import Path

from tests.support.contract_cases import DEVIATIONS, GROUPS, load_cases

DOCS = Path(__file__).parents[2] / "docs" / "http.md"
ROW = re.compile(r"\| (?P<id>D\d+) \| (?P<title>[^|]+) \| [^|]+ \| (?P<cases>[^|]+) \|")


def documented() -> dict[tuple[str, str], frozenset[str]]:
    rows = map(ROW.fullmatch, DOCS.read_text("utf-8").splitlines())
    return {
        (row["id"], row["title"]): frozenset(re.findall("`([^`]+)`", row["cases"])) for row in rows if row
    }


def test_the_documented_deviations_are_the_tested_ones() -> None:
    assert documented() == {key: names for key, (_, names) in DEVIATIONS.items()}


def test_every_deviation_names_recorded_cases() -> None:
    recorded = {case.name for group in GROUPS for case in load_cases(group)}

    assert {name for _, names in DEVIATIONS.values() for name in names} <= recorded
