"""Exchanges a folder with a link to another one, again and again: run as a process beside a writer."""

import ctypes
import sys
from pathlib import Path

MIN_SWAPS = 10_000
_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE


def main(folder: Path, outside: Path, stop: Path) -> None:
    """Exchange the two until there is a file ``stop``, 10,000 times at least; leave the folder in its place.

    Says how often it did when it has begun, and at the end.
    """
    link = folder.with_name(f"{folder.name}.link")
    link.symlink_to(outside)
    names = [str(path).encode() for path in (folder, link)]
    rename = ctypes.CDLL(None, use_errno=True).renameat2
    swaps = 0
    while swaps % 2 or swaps < MIN_SWAPS or not stop.exists():
        if rename(_HERE, names[0], _HERE, names[1], _EXCHANGE):
            raise OSError(ctypes.get_errno(), "the two can't be exchanged")
        swaps += 1
        if swaps == 1:
            sys.stdout.write("1\n")
            sys.stdout.flush()
    link.unlink()
    sys.stdout.write(f"{swaps}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
