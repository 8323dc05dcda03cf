import os
import stat

import pytest

from core.errors import ConfigError
from memlane.folders import FolderLocked, lock_folder, make_private


def test_folders_are_private_whatever_the_umask(tmp_path):
    before = os.umask(0o777)
    try:
        make_private(tmp_path / "a" / "b")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700


def test_a_folder_that_exists_keeps_its_mode(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o755)

    make_private(tmp_path / "shared")

    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o755


def test_a_file_in_the_way_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match=r"can't use .*: (Not a directory|File exists)"):
        make_private(tmp_path / "file" / "home")


def test_a_folder_is_locked_by_one_at_a_time(tmp_path):
    lock = lock_folder(tmp_path)

    with pytest.raises(FolderLocked, match="is in use by another memlane"):
        lock_folder(tmp_path, wait_s=0.1)

    lock.close()
    lock.close()
    lock_folder(tmp_path).close()


def test_a_lock_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ConfigError, match="can't use"):
        lock_folder(tmp_path)
    assert not (tmp_path / "elsewhere").exists()
