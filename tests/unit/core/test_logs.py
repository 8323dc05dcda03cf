import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import logging
from core.logs import configure_logs, get_logger
configure_logs("info", process="worker")
log = get_logger("jobs.runs")
log.info("task_ended", task="remember-1", status="completed", code=None)
log.debug("unseen")
logging.getLogger("redis").warning("from a library")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("dramatiq.worker").warning("consumer", exc_info=True)
try:
    1 / 0
except ZeroDivisionError:
    log.exception("broken")
"""


def run_with_stderr(descriptor: int) -> subprocess.CompletedProcess[str]:
    source = f"{SCRIPT}\nprint('done', flush=True)\nimport os\nos._exit(0)"
    return subprocess.run(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=descriptor, text=True, check=True
    )


def test_work_goes_on_when_the_disk_of_its_log_is_full():
    with Path("/dev/full").open("w") as full:
        assert run_with_stderr(full.fileno()).stdout == "done\n"


def test_work_goes_on_when_nobody_reads_its_log_any_more():
    reader, writer = os.pipe()
    os.close(reader)

    assert run_with_stderr(writer).stdout == "done\n"
    os.close(writer)


def test_a_pipe_gets_one_json_object_a_line_without_facts_that_are_none():
    answer = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)

    ended, foreign, engine, broken = map(json.loads, answer.stderr.splitlines())
    assert answer.stdout == ""
    assert "code" not in ended
    assert (ended["event"], ended["level"], ended["process"]) == ("task_ended", "info", "worker")
    assert (foreign["event"], foreign["level"], foreign["process"]) == ("from a library", "warning", "worker")
    assert "exception" not in engine
    assert "ZeroDivisionError" in broken["exception"]
