"""Both kinds of stores, held to the same promises."""

from types import SimpleNamespace

import pytest

from channels.volatile import VolatileInbox, VolatileLedger, VolatileOutbox, VolatileRoutes
from events.chat.store import ChannelStore
from events.connect import connect
from memlane.channels.stores import Patience, StoredInbox, StoredLedger, StoredOutbox, StoredRoutes
from tests.support.lane import fresh_workspace_id


@pytest.fixture(params=["volatile", "stored"])
def stores(request):
    if request.param == "volatile":
        return SimpleNamespace(
            ledger=VolatileLedger(), outbox=VolatileOutbox(), inbox=VolatileInbox(), routes=VolatileRoutes()
        )
    store = ChannelStore(connect(request.getfixturevalue("redis_url")), fresh_workspace_id(), "chat")
    store.claim("me", life_ms=60_000)
    patience = Patience()
    return SimpleNamespace(
        ledger=StoredLedger(store, patience),
        outbox=StoredOutbox(store, patience),
        inbox=StoredInbox(store, patience),
        routes=StoredRoutes(store, patience),
    )
