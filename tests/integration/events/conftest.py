"""A log that nothing else writes to, and a hub that follows it."""

from collections.abc import Iterator

import pytest

from events.hub import EventHub, open_hub
from tests.support.event_writer import EventWriter


@pytest.fixture
def writer(redis_url: str) -> EventWriter:
    return EventWriter(redis_url)


@pytest.fixture
def hub(redis_url: str, writer: EventWriter) -> Iterator[EventHub]:
    hub = open_hub(redis_url, [writer.lane.workspace])
    yield hub
    hub.close()
