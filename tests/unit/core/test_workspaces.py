import os
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.workspaces import Workspaces


def test_the_first_workspace_is_primary_and_repeats_are_one(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")

    workspaces = Workspaces([str(tmp_path / "a"), str(tmp_path), str(tmp_path / "link")])

    assert [workspace.path for workspace in workspaces] == [str(tmp_path / "a"), str(tmp_path)]
    assert [workspace.primary for workspace in workspaces] == [True, False]
    assert workspaces.primary.path == str(tmp_path / "a")


def test_a_workspace_is_found_by_id_and_by_any_path_that_leads_to_it(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    workspaces = Workspaces([str(tmp_path / "a")])

    assert workspaces.by_id(workspaces.primary.id) is workspaces.primary
    for path in (tmp_path / "a", tmp_path / "link", tmp_path / "a" / ".." / "a"):
        assert workspaces.by_path(str(path)) is workspaces.primary


def test_another_id_or_path_is_none(tmp_path: Path):
    workspaces = Workspaces([str(tmp_path)])

    assert workspaces.by_id("nope") is None
    assert workspaces.by_path(str(tmp_path.parent)) is None


def test_no_workspace_is_refused():
    with pytest.raises(ConfigError, match="no workspace"):
        Workspaces([])


def test_a_missing_workspace_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="does not exist"):
        Workspaces([str(tmp_path / "nope")])


def test_a_file_is_no_workspace(tmp_path: Path):
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match="not a directory"):
        Workspaces([str(tmp_path / "file")])


@pytest.mark.parametrize("must_exist", [True, False])
def test_a_path_that_no_json_can_name_is_refused(tmp_path: Path, must_exist: bool):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    Path(path).mkdir()

    with pytest.raises(ConfigError, match="not UTF-8"):
        Workspaces([path], must_exist=must_exist)


def test_a_folder_that_vanished_keeps_its_id(tmp_path: Path):
    path = tmp_path / "w"
    path.mkdir()
    before = Workspaces([str(path)])
    path.rmdir()

    after = Workspaces([str(path)], must_exist=False)

    assert after.primary.id == before.primary.id
