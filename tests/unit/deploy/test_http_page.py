"""docs/http.md, held against what tasks can fail with."""

from itertools import chain

from jobs.failures import _MESSAGES, CANCELLED
from tests.support.documents import ROOT, quoted, table_under

PAGE = ROOT / "docs" / "http.md"


def test_each_code_of_a_failed_task_is_told_and_no_other():
    rows = table_under("Codes of failed tasks", page=PAGE)
    told = set(chain.from_iterable(quoted(row[0]) for row in rows))

    assert told == {*_MESSAGES, CANCELLED.code, "<kind>_failed", "<kind>_timeout"}
