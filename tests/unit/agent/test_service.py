from structlog.testing import capture_logs

from agent.models.offline import OfflineModel
from agent.service import MemoryService
from core.settings import load_settings


def test_a_memory_folder_that_vanished_is_named_once_until_it_is_back(tmp_path):
    base = tmp_path / "memory"
    service = MemoryService(
        load_settings(memory_dir=base),
        workspace=str(tmp_path),
        model=OfflineModel(),
        fast_model=OfflineModel(),
    )

    with capture_logs() as logs:
        answers = [service.is_available(), service.is_available()]
        base.mkdir()
        answers.append(service.is_available())
        base.rename(tmp_path / "elsewhere")
        answers.append(service.is_available())

    assert answers == [False, False, True, False]
    assert [line["event"] for line in logs] == ["memory_unavailable"] * 2
    assert all(str(base) in line["reason"] for line in logs)


def test_the_history_of_a_memory_folder_that_vanished_is_left_as_it_is(tmp_path):
    service = MemoryService(
        load_settings(memory_dir=tmp_path / "memory"),
        workspace=str(tmp_path),
        model=OfflineModel(),
        fast_model=OfflineModel(),
    )

    assert service.show_history() is False
    assert not (tmp_path / "memory").exists()
