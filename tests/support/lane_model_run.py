"""How long the machine runs."""

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.lane_model_machine import LaneMachine
from tests.support.lane_model_steps import Bench

_ALWAYS = settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))

EVERY_CHANGE = settings(_ALWAYS, max_examples=100, stateful_step_count=30, derandomize=True)
STORM = settings(_ALWAYS, max_examples=400, stateful_step_count=50)
# finds a difference, and leaves it as long as it is
HUNT = settings(EVERY_CHANGE, max_examples=600, phases=[Phase.generate], report_multiple_bugs=False)


def run_machine(bench: Bench, profile: settings) -> None:
    """Run the machine; fails with the shortest sequence of calls that shows a difference."""
    run_state_machine_as_test(
        lambda: LaneMachine(bench),  # type: ignore[arg-type]  # any maker of machines will do
        settings=profile,
    )
