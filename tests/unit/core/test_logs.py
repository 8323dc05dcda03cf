import json
import subprocess
import sys

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


def test_a_pipe_gets_one_json_object_a_line_without_facts_that_are_none():
    answer = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)

    ended, foreign, engine, broken = map(json.loads, answer.stderr.splitlines())
    assert answer.stdout == ""
    assert "code" not in ended
    assert (ended["event"], ended["level"], ended["process"]) == ("task_ended", "info", "worker")
    assert (foreign["event"], foreign["level"], foreign["process"]) == ("from a library", "warning", "worker")
    assert "exception" not in engine
    assert "ZeroDivisionError" in broken["exception"]
