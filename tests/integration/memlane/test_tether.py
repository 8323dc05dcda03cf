import os
import signal
import subprocess
import sys

from memlane import tether


def test_the_command_takes_the_place_of_the_wrapper():
    answer = subprocess.run(
        tether.tethered(["/bin/echo", "a b", "$c"]), capture_output=True, text=True, check=True
    )

    assert answer.stdout == "a b $c\n"


def test_the_command_ends_when_its_starter_is_killed():
    starter = (
        "import subprocess, sys; from memlane.tether import tethered\n"
        "child = subprocess.Popen(tethered(['/bin/sh', '-c', 'echo $$; exec sleep 60']), stdout=1)\n"
        "child.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        child = os.pidfd_open(int(process.stdout.readline()))
        process.kill()
        # the pipe ends when the last process that holds it has ended
        assert process.stdout.read() == b""
    os.close(child)


def test_a_starter_that_is_gone_already_stops_the_command():
    command = [sys.executable, "-I", "-S", tether.__file__, "1", "/bin/echo", "hello"]

    answer = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (answer.returncode, answer.stdout) == (1, "")
    assert "the starting process is gone" in answer.stderr


def test_a_command_that_does_not_exist_is_one_line():
    answer = subprocess.run(
        tether.tethered(["/no/such/program"]), capture_output=True, text=True, check=False
    )

    assert answer.stderr == "/no/such/program: No such file or directory\n"


def test_the_command_can_be_ended_by_a_broken_pipe_as_usual():
    answer = subprocess.run(tether.tethered(["/bin/sh", "-c", "kill -PIPE $$"]), check=False)

    assert answer.returncode == -signal.SIGPIPE
