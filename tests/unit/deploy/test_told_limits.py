"""Limits that the pages promise, held against those that are kept."""

import pytest

from events.sessions import CLIENT_LIFE_MS, MAX_STREAMS
from events.subscription import MAX_LAG, MAX_LAG_BYTES, WARN_SHARE
from jobs.audit import KEPT
from jobs.limits import IDEMPOTENCY_MS
from tests.support.documents import ROOT
from tests.support.session_site import SESSION_LIFE_MS
from web.preference import MAX_WAIT_S
from web.relay import HEARTBEAT_S
from web.sockets import MAX_MESSAGE_BYTES, PING_S
from web.throttle import NAMED_LIMIT
from web.watch import MAX_WAITING

HOUR_MS = 3_600_000
KIB = 1024


@pytest.mark.parametrize(
    ("page", "promise"),
    [
        ("events", f"comment comes after {HEARTBEAT_S:g} s of silence"),
        ("events", f"A reader may be {MAX_LAG} events behind, and {MAX_LAG_BYTES // KIB**2} MiB of payload"),
        ("events", f"At {WARN_SHARE * 100:g} % of either"),
        ("events", f"up to {MAX_MESSAGE_BYTES // KIB} KiB a message"),
        ("events", f"the service pings every {PING_S} s"),
        ("http", f"the session has {MAX_STREAMS} streams"),
        ("http", f"A session lives {SESSION_LIFE_MS // 60_000} minutes after its last use"),
        ("http", f"for {CLIENT_LIFE_MS // HOUR_MS} h after its last use"),
        ("http", f"for {IDEMPOTENCY_MS // HOUR_MS} h the same request"),
        ("http", f"where {MAX_WAITING:,} requests wait in one process"),
        ("http", f"more than {MAX_WAIT_S} s"),
        ("http", f"named tokens have {NAMED_LIMIT} and the owner's has no limit"),
        ("operations", f"the last {KEPT['done']:,} and {KEPT['refused']:,}"),
    ],
)
def test_a_promised_limit_is_the_one_that_is_kept(page: str, promise: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")

    assert promise in " ".join(text.split())
