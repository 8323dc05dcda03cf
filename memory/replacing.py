"""Put a whole new folder in the place of an old one; a kill at any point leaves one of the two there."""

import os
import shutil
from pathlib import Path

from memory.beneath import open_folder
from memory.files import Checkpoint
from memory.renames import Renames


def new_beside(folder: Path) -> Path:
    """Where the folder that is going to replace this one is made."""
    return folder.with_suffix(".new")


def replace_folder(folder: Path, *, renames: Renames, checkpoint: Checkpoint) -> None:
    """Put the folder that was made beside this one in its place, durably; what stood there goes.

    Where the file system can't exchange names, a kill between two renames leaves no folder: then
    ``settle_folder`` puts the old one back.

    Raises:
        OSError: the disk failed; the folder is the old or the new one, or as after a kill.
    """
    made, gone = new_beside(folder), _old_beside(folder)
    os.sync()  # its files are many, and were not worth a wait one by one; the old ones may be the last copy
    with open_folder(folder.parent) as parent:
        if not renames.swap(parent, made.name, folder.name):
            folder.rename(gone)
            checkpoint("folder taken away")
            made.rename(folder)
        checkpoint("folder replaced")
        os.fsync(parent)
    settle_folder(folder)


def settle_folder(folder: Path) -> None:
    """Finish what a killed ``replace_folder`` left of a folder: one that is there stays, all else goes.

    Raises:
        OSError: the disk failed.
    """
    made, gone = new_beside(folder), _old_beside(folder)
    if gone.exists() and not folder.exists():
        gone.rename(folder)
    for left in (made, gone):
        if left.exists():
            shutil.rmtree(left)


def _old_beside(folder: Path) -> Path:
    return folder.with_suffix(".old")
