import json
import socket

import pytest

from bench.crowd import Crowd, _Client
from events.envelope import Envelope
from web.relay import frame

FRAMES = b"".join(frame(Envelope(number, "task_queued", '{"id":7}', None, 5)) for number in (1, 2))


@pytest.mark.parametrize("cut", range(0, len(FRAMES), 7))
def test_each_event_is_noted_once_wherever_the_bytes_are_cut(cut: int):
    crowd = Crowd(0, "stream", stuck=False)
    with socket.socket() as wire:
        client = _Client(wire)

        crowd._note(client, FRAMES[:cut], 1)
        crowd._note(client, FRAMES[cut:], 2)

    arrivals = json.loads(crowd.arrivals())
    assert {number: len(times) for number, times in arrivals.items()} == {"1": 1, "2": 1}
