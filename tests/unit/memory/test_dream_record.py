import json
from pathlib import Path

import pytest

from memory.dream_record import DreamRecord, dream_folder, record_dream, recorded_input
from memory.errors import StoreUnusable
from tests.support.memory import MemoryBase

RECORD = DreamRecord("abc", ("user", "project"))


def test_what_is_recorded_is_read_back(tmp_path: Path) -> None:
    record_dream(tmp_path, RECORD)

    assert recorded_input(tmp_path) == "abc"
    meta = json.loads((tmp_path / "meta.json").read_text())
    assert (meta["lastDreamStatus"], meta["lastDreamTouchedTopics"]) == ("updated", ["user", "project"])
    assert meta["createdAt"] == meta["updatedAt"] == meta["lastDreamAt"]


def test_another_dream_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text('{"b": 1, "a": {"x": []}, "memlane": {"later": true}}')

    record_dream(tmp_path, DreamRecord("def", ()))

    meta = json.loads((tmp_path / "meta.json").read_text())
    assert (meta["b"], meta["a"], meta["lastDreamStatus"]) == (1, {"x": []}, "noop")
    assert meta["memlane"] == {"later": True, "dreamInput": "def"}
    assert "version" not in meta


@pytest.mark.parametrize("content", ['{"memlane": 5}', '{"memlane": {"dreamInput": 5}}', "{}", "[", ""])
def test_a_record_without_a_digest_has_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "meta.json").write_text(content)

    assert recorded_input(tmp_path) is None


def test_a_missing_folder_has_no_record_and_can_not_get_one(tmp_path: Path) -> None:
    assert recorded_input(tmp_path / "missing") is None
    with pytest.raises(StoreUnusable):
        record_dream(tmp_path / "missing", RECORD)


def test_a_link_in_the_records_place_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "theirs.json"
    target.write_text("{}")
    (tmp_path / "meta.json").symlink_to(target)

    with pytest.raises(StoreUnusable):
        record_dream(tmp_path, RECORD)

    assert recorded_input(tmp_path) is None
    assert target.read_text() == "{}"
    assert (tmp_path / "meta.json").is_symlink()


def test_records_lie_beside_the_project_and_in_the_store_for_the_user(tmp_path: Path) -> None:
    base = MemoryBase(tmp_path)

    assert dream_folder(base.roots, "project") == base.project.parent
    assert dream_folder(base.roots, "user") == base.path / "memlane"
