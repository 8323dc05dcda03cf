import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from events import kinds
from events.envelope import Envelope
from tests.support.description import Undescribed, event_description, idle_app, references_in
from web.route import routes_of

DOCUMENT = event_description().document


def envelope(event_type: str, data: dict[str, Any], *, number: int | None = 1) -> Any:
    return json.loads(Envelope(number, event_type, json.dumps(data), None, 1_000).to_json())


def test_every_kind_of_event_is_described() -> None:
    names = {value for name, value in vars(kinds).items() if name.isupper()}

    assert DOCUMENT["components"]["messages"].keys() == names


def test_every_stream_is_a_channel_at_each_of_its_paths() -> None:
    streams = [
        route
        for route in routes_of(idle_app()).values()
        if route.is_socket or "text/event-stream" in route.media
    ]
    channels = DOCUMENT["channels"].values()

    assert len(channels) == sum(len(route.rules) for route in streams)
    for channel in channels:
        assert channel["parameters"].keys() == set(re.findall(r"{(\w+)}", channel["address"]))


def test_every_reference_leads_somewhere() -> None:
    for reference in references_in(DOCUMENT):
        found: Any = DOCUMENT
        for name in reference.removeprefix("#/").split("/"):
            found = found[name]


def test_every_schema_is_one() -> None:
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    "event",
    [
        envelope(kinds.REPLAY_COMPLETE, {"replayedCount": 0}, number=1),
        envelope(kinds.TASK_QUEUED, {"taskId": "x", "kind": "remember", "status": "queued"}, number=None),
        envelope(kinds.TASK_QUEUED, {"taskId": "x", "kind": "remember", "status": "queued", "summary": "s"}),
        envelope(kinds.TASK_QUEUED, {"taskId": "x", "kind": "chat", "status": "queued"}),
    ],
)
def test_an_event_that_is_not_described_is_noticed(event: Any) -> None:
    event_description().check_event(
        envelope(kinds.TASK_QUEUED, {"taskId": "x", "kind": "remember", "status": "queued"})
    )
    with pytest.raises(Undescribed):
        event_description().check_event(event)
