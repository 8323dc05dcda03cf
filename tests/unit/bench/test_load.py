from bench.diary import Diary
from bench.machine import _cpu_model
from bench.peers.load import jobs_of
from bench.proof import Run, parse_runs
from bench.recovery import next_starts_s
from bench.throughput import tasks_each


def test_workspaces_are_loaded_in_turn():
    assert list(jobs_of(2, 2)) == [("w0", 0), ("w1", 0), ("w0", 1), ("w1", 1)]


def test_tasks_are_shared_out_evenly_within_what_a_lane_keeps():
    assert [tasks_each(3_000, count) for count in (1, 10, 1_000, 10_000)] == [1_000, 300, 3, 1]


def test_a_diary_reads_as_what_was_noted(tmp_path):
    diary = Diary(tmp_path / "diary")

    diary.note("w3", 7, 5)

    (run,) = parse_runs((tmp_path / "diary").read_text())
    assert (run.workspace, run.seq, run.start_ns) == ("w3", 7, 5)
    assert run.end_ns > run.start_ns


def test_recovery_counts_each_lanes_first_start_after_the_kill():
    s = 1_000_000_000
    runs = [Run("w0", 0, s, s), Run("w0", 1, 5 * s, 5 * s), Run("w0", 0, 4 * s, 4 * s), Run("w1", 0, s, s)]

    assert next_starts_s(runs, 2 * s) == {"w0": 2.0}


def test_the_processor_is_named_as_the_kernel_names_it():
    assert _cpu_model("processor\t: 0\nmodel name\t: AMD EPYC\n") == "AMD EPYC"
    assert _cpu_model("processor\t: 0\n")
