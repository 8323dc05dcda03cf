from pathlib import Path
from urllib.parse import quote

import pytest

from core.errors import ConfigError
from core.workspaces import WorkspaceMismatch, Workspaces


def test_the_first_workspace_is_primary_and_repeats_are_one(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")

    workspaces = Workspaces([str(tmp_path / "a"), str(tmp_path), str(tmp_path / "link")])

    assert [workspace.path for workspace in workspaces] == [str(tmp_path / "a"), str(tmp_path)]
    assert [workspace.primary for workspace in workspaces] == [True, False]
    assert workspaces.primary.path == str(tmp_path / "a")


def test_a_workspace_is_selected_by_id_and_by_encoded_path(tmp_path: Path):
    folder = tmp_path / "mit Leerzeichen & é"
    folder.mkdir()
    workspaces = Workspaces([str(folder)])

    assert workspaces.select(workspaces.primary.id) is workspaces.primary
    assert workspaces.select(quote(str(folder), safe="")) is workspaces.primary
    assert workspaces.select(quote(str(folder / ".." / folder.name), safe="")) is workspaces.primary


def test_another_path_is_a_mismatch_that_tells_how_many_there_are(tmp_path: Path):
    with pytest.raises(WorkspaceMismatch) as mismatch:
        Workspaces([str(tmp_path)]).select("%2Fetc")

    assert mismatch.value.workspace_count == 1


@pytest.mark.parametrize("selector", ["nope", "", "relative%2Fpath", "%2Fa%00b"])
def test_a_selector_that_is_neither_id_nor_path_is_a_mismatch(tmp_path: Path, selector: str):
    with pytest.raises(WorkspaceMismatch) as mismatch:
        Workspaces([str(tmp_path)]).select(selector)

    assert mismatch.value.workspace_count is None


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
