"""The lane scripts do what the design's tables say, whatever is called in whatever order."""

from typing import Any

import pytest
from hypothesis.errors import Flaky
from redis.exceptions import ResponseError

from jobs import scripts
from tests.support.lane_model_mutations import MUTATIONS, Mutation, mutated
from tests.support.lane_model_run import EVERY_CHANGE, HUNT, STORM, run_machine
from tests.support.lane_model_steps import Bench


@pytest.mark.timeout(300)
def test_the_scripts_and_the_model_never_differ(model_redis: Any):
    bench = Bench(model_redis)

    run_machine(bench, EVERY_CHANGE)

    assert bench.steps > 3_000


@pytest.mark.storm
@pytest.mark.timeout(1_800)
def test_the_scripts_and_the_model_never_differ_in_a_long_run(
    model_redis: Any, capsys: pytest.CaptureFixture[str]
):
    bench = Bench(model_redis)

    run_machine(bench, STORM)

    assert bench.steps >= 10_000
    assert {answer for _, answer in bench.answers} >= EVERY_ANSWER
    with capsys.disabled():
        print(f"\n{bench.steps} steps, {bench.blurred} examples blurred")  # noqa: T201 - the run's result
        for (call, answer), count in sorted(bench.answers.items()):
            print(f"{count:7} {call}: {answer}")  # noqa: T201 - see above


@pytest.mark.storm
@pytest.mark.timeout(300)
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_script_without_one_of_its_guards_is_found(
    model_redis: Any, mutation: Mutation, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(scripts, "source", mutated(mutation))

    # flaky: a difference that shows only when two calls fall into one millisecond
    with pytest.raises((AssertionError, ResponseError, Flaky)):
        run_machine(Bench(model_redis), HUNT)


EVERY_ANSWER = {
    *("ok", "dup", "mismatch", "evicted", "full", "overloaded", "closed"),
    *("cancelled", "cancelling", "terminal", "gone"),
    *("run", "resolve", "None"),
    *("kept", "cancel", "lost"),
    *("already", "fenced"),
    *("True", "False"),
    *("a stamp", "0 rings", "1 rings"),
}
