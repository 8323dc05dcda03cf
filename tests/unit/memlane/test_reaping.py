import signal
import subprocess

from memlane.reaping import reap_killed


def test_a_killed_process_is_collected():
    process = subprocess.Popen(["/bin/sleep", "60"])
    process.kill()

    assert reap_killed(process, name="redis") == -signal.SIGKILL


def test_a_process_that_does_not_end_is_given_up():
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        assert reap_killed(process, name="redis", limit_s=0.05) is None

        process.kill()
