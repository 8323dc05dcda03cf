import os
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.slot import Slot

SHM = Path("/dev/shm")

HOLDER = """
import sys, pathlib
from jobs.slot import Slot
slot = Slot([pathlib.Path(sys.argv[1])], group=sys.argv[2])
child = __import__("subprocess").Popen(["sleep", "1000"], pass_fds=[slot.descriptor])
print(slot.name, child.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def group(tmp_path: Path) -> str:
    return f"test-{os.getpid()}-{tmp_path.name}"[:200]


@pytest.fixture
def slot(group: str):
    slot = Slot([SHM], group=group)
    yield slot
    slot.close()


def found_dead(slot: Slot) -> list[str]:
    names: list[str] = []
    slot.find_dead(names.append)
    return names


def test_a_living_sibling_is_not_found_dead(slot: Slot, group: str):
    sibling = Slot([SHM], group=group)

    assert found_dead(slot) == []
    assert found_dead(sibling) == []

    sibling.close()
    assert found_dead(slot) == []  # it left in order: there is nothing to bury


def test_a_sibling_is_dead_only_when_all_that_inherited_its_lock_are(slot: Slot, group: str):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(SHM), group],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    name, child = holder.stdout.readline().split()
    with holder:
        holder.kill()
    assert found_dead(slot) == []  # its child lives

    os.kill(int(child), 9)
    dead: list[str] = []
    while not dead:  # the kernel closes a dead process's files in its own time
        dead = found_dead(slot)

    assert dead == [name]
    assert found_dead(slot) == []


def test_a_death_that_could_not_be_reported_is_found_again(slot: Slot, group: str):
    (SHM / f"memlane-{os.getuid()}" / group / "dead.lock").touch()

    with pytest.raises(RuntimeError):
        slot.find_dead(lambda _name: (_ for _ in ()).throw(RuntimeError))

    assert found_dead(slot) == ["dead"]


def test_groups_do_not_see_each_other(slot: Slot, group: str):
    other = Slot([SHM], group=f"{group}-other")
    (SHM / f"memlane-{os.getuid()}" / group / "dead.lock").touch()

    assert found_dead(other) == []
    assert found_dead(slot) == ["dead"]
    other.close()


def test_without_a_private_tmpfs_there_is_no_lock_and_no_proof(tmp_path: Path):
    not_private = SHM / f"open-{os.getpid()}"
    (not_private / f"memlane-{os.getuid()}").mkdir(parents=True)
    (not_private / f"memlane-{os.getuid()}").chmod(0o777)

    slot = Slot([not_private, Path("/proc"), tmp_path / "missing"], group="g")

    assert slot.descriptor is None
    assert found_dead(slot) == []
    slot.close()
    (not_private / f"memlane-{os.getuid()}").rmdir()
    not_private.rmdir()
