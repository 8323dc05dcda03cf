import json
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from agent.models.offline import OfflineModel
from agent.service import PRUNE_PAUSE_MS, MemoryService
from core.clock import boot_ms
from core.settings import load_settings
from memory.errors import RevisionPruned
from memory.revisions import Revisions
from memory.store import open_store
from tests.support.git_log import read_log
from tests.support.memory import MemoryBase, fenced_task, note


def service_on(base, workspace, **settings):
    return MemoryService(
        load_settings(memory_dir=base, **settings),
        workspace=str(workspace),
        model=OfflineModel(),
        fast_model=OfflineModel(),
    )


def test_a_memory_folder_that_vanished_is_named_once_until_it_is_back(tmp_path):
    base = tmp_path / "memory"
    service = service_on(base, tmp_path)

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
    assert service_on(tmp_path / "memory", tmp_path).tidy_history() is False
    assert not (tmp_path / "memory").exists()


def test_in_quiet_moments_old_commits_are_shown_and_lose_their_texts_then(tmp_path):
    base = MemoryBase(tmp_path)
    for fence, name in ((1, "old"), (2, "young")):
        base.commit(open_store(base.path), fenced_task(fence), {base.user / f"{name}.md": note(name)})
    make_older(base, "r1", hours=3)
    service = service_on(base.path, base.workspace, history_keep=timedelta(hours=2), task_ttl_s=60)

    while service.tidy_history():
        pass

    revisions = Revisions(base.path)
    with pytest.raises(RevisionPruned):
        revisions.diff("r1", base.roots)
    assert [diff.path for diff in revisions.diff("r2", base.roots)] == ["young.md"]
    assert list(read_log(base.path)[-1].files) == ["memories/old.md", "memories/young.md"]


def test_texts_are_looked_after_once_an_hour(tmp_path, monkeypatch):
    base = MemoryBase(tmp_path)
    service = service_on(base.path, base.workspace, history_keep=timedelta(hours=2), task_ttl_s=60)
    for fence, name in ((1, "first"), (2, "second")):
        base.commit(open_store(base.path), fenced_task(fence), {base.user / f"{name}.md": note(name)})
        make_older(base, f"r{fence}", hours=3)
        while service.tidy_history():
            pass

    Revisions(base.path).require_kept("r2", base.roots)
    monkeypatch.setattr("agent.service.boot_ms", lambda: boot_ms() + PRUNE_PAUSE_MS)
    assert service.tidy_history()

    with pytest.raises(RevisionPruned):
        Revisions(base.path).require_kept("r2", base.roots)


def test_commits_that_are_kept_for_ever_and_a_store_that_fails_keep_their_texts(tmp_path, monkeypatch):
    base = MemoryBase(tmp_path)
    base.commit(open_store(base.path), fenced_task(1), {base.user / "old.md": note("old")})
    make_older(base, "r1", hours=10_000)
    monkeypatch.setenv("MEMLANE_HISTORY_KEEP", "forever")
    for_ever = service_on(base.path, base.workspace)
    monkeypatch.delenv("MEMLANE_HISTORY_KEEP")
    pruning = service_on(base.path, base.workspace)
    while for_ever.tidy_history():
        pass
    (base.path / "memlane/state/pruned").write_text("damaged")

    with capture_logs() as logs:
        assert pruning.tidy_history() is False

    assert [line["event"] for line in logs] == ["texts_left"]
    assert [diff.path for diff in Revisions(base.path).diff("r1", base.roots)] == ["old.md"]


def make_older(base, revision, *, hours):
    """Let a commit have happened so many hours ago."""
    entry = base.path / f"memlane/journal/{int(revision[1:]):012d}.json"
    facts = json.loads(entry.read_bytes())
    facts["mtime_ns"] -= hours * 3_600 * 10**9
    entry.write_text(json.dumps(facts))
