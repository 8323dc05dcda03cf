"""The rules of a lane's history are noticed when they are broken."""

import json

import pytest

from events.envelope import Envelope
from tests.support.lane_model_history import violations


def log(*lines: str) -> list[Envelope]:
    """Events written as ``queued a``."""
    words = [line.split() for line in lines]
    return [
        Envelope(number, f"task_{what}", json.dumps({"taskId": task}), None, 0)
        for number, (what, task) in enumerate(words, 1)
    ]


def test_a_history_with_a_cancel_a_hand_back_and_a_lost_worker_breaks_no_rule():
    events = log(
        *("queued a", "queued b", "queued c", "cancelled b"),
        *("running a", "queued a", "running a", "running a", "completed a", "running c", "failed c"),
    )

    assert violations(events) == []


@pytest.mark.parametrize(
    "lines",
    [
        ("queued a", "queued b", "running b", "completed b", "running a", "completed a"),
        ("queued a", "queued b", "running a", "running b"),
        ("queued a", "running a", "completed a", "failed a"),
        ("queued a", "running a", "completed a", "running a"),
    ],
    ids=["overtaking", "overlap", "two ends", "a run after the end"],
)
def test_each_broken_rule_is_found(lines: tuple[str, ...]):
    assert len(violations(log(*lines))) == 1
