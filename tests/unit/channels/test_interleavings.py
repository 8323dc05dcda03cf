"""Rules of a turn's events whatever comes in which order: design page "Channel layer", 4.2 to 4.4."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from channels.config import BlockStreaming
from tests.support.channels.interleaving import play

FREQUENT = ("say", "answer", "cancel", "accept", "write")
RARE = ("fail", "clear", "reject", "use_tool", "wait", "die", "refuse", "expire")
STEPS = (0, 1, 2, 3, 5, 8, 60)
ACTIONS = st.lists(
    st.tuples(st.sampled_from([*FREQUENT, *FREQUENT, *RARE]), st.integers(0, 11), st.sampled_from(STEPS)),
    max_size=40,
)


@pytest.mark.parametrize("streaming", [None, BlockStreaming(2, 5, 100)])
@pytest.mark.parametrize("mode", ["collect", "steer", "followup"])
@given(actions=ACTIONS)
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_each_turn_has_one_end_and_then_is_silent_whatever_comes_when(mode, streaming, actions):
    assert play(actions, dispatch_mode=mode, block_streaming=streaming) == []
