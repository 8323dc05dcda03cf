import os
import select
import signal
import subprocess
from pathlib import Path

import pytest

from memlane.stop_signals import STOP_SIGNALS, StopSignals
from memlane.supervisor import Part, PartRefused, StartCondition, StartFailed, Supervisor

STAYS = "sleep 60 & wait"


def part(name: str, script: str, *, grace_s: float = 5.0, folder: Path | None = None) -> Part:
    def spawn() -> subprocess.Popen[bytes]:
        return subprocess.Popen(["/bin/sh", "-c", script], start_new_session=True, cwd=folder)

    return Part(name, spawn, grace_s)


def ready_when(probe, announce=lambda: None, limit_s=10.0) -> StartCondition:
    return StartCondition(probe, announce, limit_s)


def run(supervisor: Supervisor, condition: StartCondition) -> None:
    with StopSignals() as signals:
        supervisor.run(condition, signals)


def stop() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def test_parts_stop_in_the_opposite_order_of_their_start(tmp_path):
    def script(name: str) -> str:
        return f"trap 'echo {name} >> stopped; exit' TERM; echo {name} >> started; {STAYS}"

    names = ["redis", "web", "worker"]
    supervisor = Supervisor([part(name, script(name), folder=tmp_path) for name in names])

    run(supervisor, ready_when(lambda: len(lines(tmp_path / "started")) == 3, stop))

    assert lines(tmp_path / "stopped") == ["worker", "web", "redis"]


def test_ctrl_c_stops_as_well(tmp_path):
    supervisor = Supervisor([part("web", STAYS)])

    run(supervisor, ready_when(lambda: True, lambda: os.kill(os.getpid(), signal.SIGINT)))


def test_a_part_that_crashes_is_started_again(tmp_path):
    script = f"echo run >> runs; [ $(wc -l < runs) -ge 3 ] || exit 1; {STAYS}"
    supervisor = Supervisor([part("worker", script, folder=tmp_path)])

    run(supervisor, ready_when(lambda: len(lines(tmp_path / "runs")) == 3, stop))

    assert len(lines(tmp_path / "runs")) == 3


def test_a_part_that_cannot_be_started_again_for_now_is_tried_later(tmp_path):
    ran = tmp_path / "ran"

    def spawn() -> subprocess.Popen[bytes]:
        if ran.exists() and not (tmp_path / "refused").exists():
            (tmp_path / "refused").touch()
            raise OSError("no space left on device")
        ran.touch()
        again = (tmp_path / "refused").exists()
        return subprocess.Popen(["/bin/sh", "-c", STAYS if again else "exit 1"], start_new_session=True)

    supervisor = Supervisor([Part("redis", spawn, 5.0)])

    run(supervisor, ready_when(lambda: (tmp_path / "refused").exists(), stop))


def test_a_part_that_cannot_be_started_at_all_is_told_at_once():
    def spawn() -> subprocess.Popen[bytes]:
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        run(Supervisor([Part("redis", spawn, 5.0)]), ready_when(lambda: True))


def test_a_crash_long_after_readiness_is_noticed_without_polling(tmp_path):
    os.mkfifo(tmp_path / "go")
    second_run = f"[ $(wc -l < runs) -ge 2 ] && kill -TERM {os.getpid()} && {STAYS}"
    script = f"echo run >> runs; {second_run}; read _ < go; exit 1"

    def release() -> None:
        (tmp_path / "go").write_text("now\n")

    run(Supervisor([part("worker", script, folder=tmp_path)]), ready_when(lambda: True, release))

    assert len(lines(tmp_path / "runs")) == 2


def test_a_part_that_ran_long_enough_is_forgiven_its_crashes(tmp_path):
    script = f"echo run >> runs; [ $(wc -l < runs) -ge 6 ] || exit 1; {STAYS}"

    supervisor = Supervisor([part("web", script, folder=tmp_path)], stable_ms=0)

    run(supervisor, ready_when(lambda: len(lines(tmp_path / "runs")) == 6, stop, limit_s=3.0))


def test_a_part_that_ignores_sigterm_is_killed_after_its_grace():
    supervisor = Supervisor([part("worker", f"trap '' TERM; {STAYS}", grace_s=0.2)])

    run(supervisor, ready_when(lambda: True, stop))


def test_a_second_signal_ends_the_waiting(tmp_path):
    script = f"trap 'kill -TERM $PPID' TERM; echo up >> started; while true; do {STAYS}; done"
    supervisor = Supervisor([part("worker", script, grace_s=100.0, folder=tmp_path)])

    run(supervisor, ready_when(lambda: bool(lines(tmp_path / "started")), stop))


def test_what_a_part_leaves_in_its_session_ends_with_it(tmp_path):
    script = f"sleep 60 & echo $! > child; trap 'exit' TERM; {STAYS}"
    supervisor = Supervisor([part("web", script, folder=tmp_path)])
    children: list[int] = []

    def announce() -> None:
        children.append(os.pidfd_open(int(lines(tmp_path / "child")[0])))
        stop()

    run(supervisor, ready_when(lambda: bool(lines(tmp_path / "child")), announce))

    ended, _, _ = select.select(children, [], [], 5.0)
    assert ended == children
    os.close(children[0])


def test_a_part_that_refuses_its_configuration_is_not_started_again():
    others: list[subprocess.Popen[bytes]] = []

    def spawn() -> subprocess.Popen[bytes]:
        others.append(subprocess.Popen(["/bin/sh", "-c", STAYS], start_new_session=True))
        return others[-1]

    supervisor = Supervisor([Part("redis", spawn, 5.0), part("web", "exit 2")])

    with pytest.raises(PartRefused, match="memlane web could not start"):
        run(supervisor, ready_when(lambda: False))
    assert [other.returncode for other in others] == [-signal.SIGTERM]


def test_a_start_that_takes_too_long_is_given_up():
    supervisor = Supervisor([part("web", STAYS)])

    with pytest.raises(StartFailed, match="not ready within"):
        run(supervisor, ready_when(lambda: False, limit_s=0.1))


def test_signal_handlers_are_put_back():
    before = [signal.getsignal(number) for number in STOP_SIGNALS]

    run(Supervisor([]), ready_when(lambda: True, stop))

    assert [signal.getsignal(number) for number in STOP_SIGNALS] == before


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_before_the_supervisor_runs_interrupts_once(number):
    with StopSignals() as signals:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)

        assert signals.hurried


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_python_drops_is_a_stop_none_the_less():
    class Finalised:
        def __del__(self) -> None:
            stop()

    with StopSignals() as signals:
        Finalised()  # Python prints and drops what its finaliser raises
        Supervisor([part("web", STAYS)]).run(ready_when(lambda: False, limit_s=60.0), signals)
