import os
import sys
from pathlib import Path

import pytest

from memlane.import_path import clean_import_path


def standing(entry: str) -> str:
    """How Python puts an entry of ``PYTHONPATH`` onto the import path."""
    return os.path.abspath(entry)  # noqa: PTH100 - links stay as they are


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


def clean(monkeypatch: pytest.MonkeyPatch, entries: list[str]) -> list[str]:
    """What is left of these entries on the import path."""
    monkeypatch.setattr(sys, "path", [*map(standing, entries), "/usr/lib/python"])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(entries))
    clean_import_path()
    assert sys.path[-1] == "/usr/lib/python"
    return sys.path[:-1]


@pytest.mark.parametrize("entry", [".", "lib", "../lib", "lib/../lib"])
def test_a_relative_entry_goes_and_children_do_not_get_it(monkeypatch, entry):
    assert clean(monkeypatch, [entry, "/srv/deps"]) == ["/srv/deps"]
    assert os.environ["PYTHONPATH"] == "/srv/deps"


@pytest.mark.parametrize("entry", ["/srv/deps", "/srv/deps/", "/srv//deps", "/srv/y/../deps"])
def test_an_absolute_entry_stays_however_it_is_written(monkeypatch, entry):
    assert clean(monkeypatch, [".", entry]) == ["/srv/deps"]
    assert os.environ["PYTHONPATH"] == entry


def test_the_folder_that_memlane_was_loaded_from_stays(monkeypatch):
    ours = Path(__file__).parents[3]
    monkeypatch.chdir(ours)

    assert clean(monkeypatch, ["."]) == [str(ours)]
    assert "PYTHONPATH" not in os.environ
