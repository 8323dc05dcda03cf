import os

import pytest

from core.errors import ConfigError
from memlane.run_record import RunRecord, read_run_record, recorded


def test_a_record_that_a_killed_process_left_is_overwritten(tmp_path):
    (tmp_path / "run.json").write_text("old")
    (tmp_path / "run.new").write_text("older")

    with recorded(tmp_path, "http://127.0.0.1:1", ["/srv/a", "/srv/b"]):
        found = read_run_record(tmp_path)

    assert found == RunRecord(os.getpid(), "http://127.0.0.1:1", ("/srv/a", "/srv/b"))


def test_a_record_without_workspaces_is_read(tmp_path):
    (tmp_path / "run.json").write_text('{"pid": 7, "url": "http://127.0.0.1:1"}')

    assert read_run_record(tmp_path) == RunRecord(7, "http://127.0.0.1:1")


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "{}", '{"pid":7,"url":"","workspaces":3}', '{"pid":"x","url":""}']
)
def test_what_can_not_be_read_is_no_record(tmp_path, text):
    (tmp_path / "run.json").write_text(text)

    assert read_run_record(tmp_path) is None


def test_a_folder_that_can_not_be_written_is_told(tmp_path):
    with pytest.raises(ConfigError, match="can't use"), recorded(tmp_path / "missing", "x", []):
        pass
