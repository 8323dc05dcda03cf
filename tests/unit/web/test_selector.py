from pathlib import Path
from urllib.parse import quote

import pytest

from core.workspaces import Workspaces
from web.errors import WorkspaceMismatch
from web.selector import select


def test_without_a_selector_the_primary_is_meant(tmp_path: Path) -> None:
    workspaces = Workspaces([str(tmp_path)])

    assert select(workspaces, None) is workspaces.primary


def test_a_workspace_is_selected_by_id_and_by_encoded_path(tmp_path: Path) -> None:
    folder = tmp_path / "mit Leerzeichen & é"
    folder.mkdir()
    workspaces = Workspaces([str(folder)])

    assert select(workspaces, workspaces.primary.id) is workspaces.primary
    assert select(workspaces, quote(str(folder), safe="")) is workspaces.primary
    assert select(workspaces, quote(str(folder / ".." / folder.name), safe="")) is workspaces.primary


def test_another_path_is_a_mismatch_that_tells_how_many_there_are(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceMismatch) as mismatch:
        select(Workspaces([str(tmp_path)]), "%2Fetc")

    assert mismatch.value.workspace_count == 1


@pytest.mark.parametrize("selector", ["nope", "", "relative%2Fpath", "%2Fa%00b"])
def test_a_selector_that_is_neither_id_nor_path_is_a_mismatch(tmp_path: Path, selector: str) -> None:
    with pytest.raises(WorkspaceMismatch) as mismatch:
        select(Workspaces([str(tmp_path)]), selector)

    assert mismatch.value.workspace_count is None
