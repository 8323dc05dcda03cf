"""A foreign agent child writes to memory by itself: whatever becomes of it, the history says what it did."""

import stat
from pathlib import Path

from jobs.tasks import Submission
from tests.acceptance.faults.conftest import MakeCluster
from tests.support import direct_child
from tests.support.cluster import Cluster, outcome
from tests.support.history import read_commits
from tests.support.invariants import check_documents
from tests.support.waiting import until


def asked(cluster: Cluster) -> list[str]:
    """Every call that the child got."""
    return (cluster.folders[0] / "asked").read_text().splitlines()


def written(cluster: Cluster, name: str) -> Path:
    return direct_child.path_of(cluster.base, name)


def test_each_call_is_one_commit_and_failures_tell_what_they_left(make_cluster: MakeCluster):
    cluster = make_cluster(2, agent_command=direct_child.command())
    cluster.start_worker()

    saved, failed, dead = cluster.wait_ended(
        cluster.submit(content=f"{what} {what}") for what in ("save", "fail", "die")
    )
    held = cluster.submit(content="hold held")
    until(written(cluster, "held").exists)
    imported = {"scope": "user", "path": "user/imported.md", "content": direct_child.text_of("imported")}
    other = cluster.jobs.submit(
        cluster.ids[1], Submission("import", {"documents": [imported], "conflict": "fail", "skipped": 0})
    )
    until(lambda: cluster.find(other).is_terminal)
    (cluster.folders[0] / "release").touch()
    (held,) = cluster.wait_ended([held])

    assert [outcome(task) for task in (saved, failed, dead, held)] == [
        ("completed", None, 1),
        ("failed", "remember_failed", 1),
        ("failed", "remember_failed", 1),
        ("completed", None, 1),
    ]
    assert "may have changed" in str(failed.error_message) + str(dead.error_message)
    commits = {
        commit.task: [change.path for change in commit.changes] for commit in read_commits(cluster.base)
    }
    assert commits == {
        saved.id: ["user/save.md"],
        failed.id: ["user/fail.md"],
        dead.id: ["user/die.md"],
        other.id: ["user/imported.md"],
        held.id: ["user/held.md"],
    }
    assert [task.revision for task in (saved, failed, dead, held)] == ["r1", "r2", "r3", "r5"]
    assert cluster.history().changes_announced == [saved.id, failed.id, dead.id, held.id]
    assert stat.S_IMODE(written(cluster, "save").stat().st_mode) == 0o600
    assert check_documents(cluster.base, read_commits(cluster.base)) == []


def test_a_task_whose_worker_was_killed_is_never_run_again_and_tells_what_it_left(make_cluster: MakeCluster):
    cluster = make_cluster(agent_command=direct_child.command())
    killed = cluster.start_worker()
    task = cluster.submit(content="hold tea")
    until(written(cluster, "tea").exists)
    killed.kill()
    cluster.start_worker()

    (ended,) = cluster.wait_ended([task])

    assert (ended.status, ended.error_code, ended.revision) == ("failed", "worker_lost", "r1")
    assert str(ended.error_message).endswith("Memory may have changed.")
    assert asked(cluster) == ["hold tea"]
    assert cluster.commits() == [task.id]
    assert cluster.history().changes_announced == [task.id]
    assert check_documents(cluster.base, read_commits(cluster.base)) == []


def test_a_task_that_was_shut_down_in_the_middle_is_not_run_again(make_cluster: MakeCluster):
    cluster = make_cluster(agent_command=direct_child.command(), drain_s="0")
    stopped = cluster.start_worker()
    task = cluster.submit(content="hold tea")
    until(written(cluster, "tea").exists)
    assert stopped.stop() == 0
    cluster.start_worker()

    (ended,) = cluster.wait_ended([task])

    assert (ended.status, ended.error_code, ended.revision) == ("failed", "worker_lost", "r1")
    assert asked(cluster) == ["hold tea"]


def test_a_cancelled_task_tells_what_it_left(make_cluster: MakeCluster):
    cluster = make_cluster(agent_command=direct_child.command())
    cluster.start_worker()
    task = cluster.submit(content="hold tea")
    until(written(cluster, "tea").exists)
    cluster.cancel(task)

    (ended,) = cluster.wait_ended([task])

    assert (ended.status, ended.revision) == ("cancelled", "r1")
    assert cluster.history().changes_announced == [task.id]
