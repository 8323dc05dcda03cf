"""The record of who did what."""

from collections.abc import Iterator

import pytest

from core.ids import WorkspaceId
from core.keys import audit
from events.connect import connect
from jobs.audit import KEPT, MAX_TARGET_CHARS, Act, Audit, is_cursor

HERE = WorkspaceId("a" * 16)


def act(number: int = 0, *, status: int = 202, **facts) -> Act:
    return Act(token="ci", action="undo", target=f"/workspace/{number}", status=status, **facts)


@pytest.fixture
def record(redis_url: str) -> Iterator[Audit]:
    """An empty record."""
    redis = connect(redis_url)
    redis.delete(*map(audit, KEPT))
    yield Audit(redis)
    redis.delete(*map(audit, KEPT))


def fill(redis_url: str, outcome: str, *, count: int) -> None:
    with connect(redis_url).pipeline(transaction=False) as pipe:
        for _ in range(count):
            pipe.xadd(audit(outcome), {"token": "ci", "action": "x", "target": "/", "status": "403"})
        pipe.execute()


def test_an_act_reads_back_as_it_was(record: Audit):
    done = act(workspace=HERE, client_id="client_1", request_id="r-1")
    refused = act(status=403, code="forbidden")

    record.record(done)
    record.record(refused)

    assert [entry.act for entry in record.page("done", limit=10).acts] == [done]
    assert [entry.act for entry in record.page("refused", limit=10).acts] == [refused]


def test_pages_are_newest_first_and_go_on_where_the_last_one_ended(record: Audit):
    for number in range(5):
        record.record(act(number))

    first = record.page("done", limit=2)
    record.record(act(5))
    second = record.page("done", limit=2, cursor=first.next_cursor)
    last = record.page("done", limit=2, cursor=second.next_cursor)

    pages = [[entry.act.target[-1] for entry in page.acts] for page in (first, second, last)]
    assert pages == [["4", "3"], ["2", "1"], ["0"]]
    assert last.next_cursor is None
    assert first.next_cursor is not None
    assert is_cursor(first.next_cursor)


def test_what_is_not_wanted_leaves_no_holes(record: Audit, redis_url: str):
    record.record(act(1, workspace=HERE))
    fill(redis_url, "done", count=300)  # more than is read at once
    record.record(act(2, workspace=HERE))

    page = record.page("done", limit=2, accepts=lambda one: one.workspace == HERE)

    assert [entry.act.target for entry in page.acts] == ["/workspace/2", "/workspace/1"]
    assert page.next_cursor is None


def test_refusals_drive_out_nothing_that_was_done(record: Audit, redis_url: str):
    record.record(act())
    fill(redis_url, "refused", count=KEPT["refused"])

    record.record(act(status=403))

    redis = connect(redis_url)
    assert redis.xlen(audit("refused")) <= KEPT["refused"] + 100  # Redis trims whole blocks
    assert redis.xlen(audit("done")) == 1


def test_a_long_target_is_cut(record: Audit):
    record.record(Act(token="ci", action="undo", target="/" * 9_000, status=404))

    (entry,) = record.page("refused", limit=1).acts
    assert len(entry.act.target) == MAX_TARGET_CHARS


@pytest.mark.parametrize(
    "text", ["", "1", "1-", "-1", "+", "1-1-1", "1-1\n", "(1-1", f"{'1' * 16}-0", "0-0", "00-1"]
)
def test_what_is_no_cursor_is_told(text: str):
    assert not is_cursor(text)
