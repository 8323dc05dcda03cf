"""A lived-in memory folder through the whole service: looked at, forgotten in, dreamt over, taken back."""

import json
import subprocess
import sys
from pathlib import Path

import httpx2

from memlane.client import Client
from memlane.models import Document, Task
from memory.index import parse_index
from tests.support.lived_in import TEXTS, TOPICS, TWINS, contents
from tests.support.memlane_up import STOP_LIMIT_S, environment
from tests.support.memory import note
from tests.support.waiting import until


def done(client: Client, task: Task) -> Task:
    ended = client.wait(task)
    assert ended.status == "completed", ended.error
    assert ended.result is not None
    return ended


def test_what_agents_did_to_a_lived_in_folder_is_taken_back_byte_by_byte(start, root: Path):
    service = start()
    before = contents(root)
    with Client(service.url, service.token) as client:
        previewed = done(client, client.forget("tell the support channel", dry_run=True))
        assert contents(root) == before
        forgot = done(client, client.apply(previewed.task_id))
        after_forget = contents(root)
        dreamt = done(client, client.dream())
        after_dream = contents(root)
        for revision in (dreamt.revision, forgot.revision):
            assert revision is not None
            done(client, client.undo(revision))
        history = list(client.revisions(document=Document(scope="project", path="project/release.md")))

    assert [path for path in before if before[path] != after_forget.get(path)] == ["project/release.md"]
    removed = (
        b"- Tell the *support* channel\n"
        b"  **Why:** they answer the questions\n"
        b"  How to apply: on the same day\n"
    )
    assert after_forget["project/release.md"] == before["project/release.md"].replace(removed, b"")
    assert forgot.result is not None
    assert [entry.summary for entry in forgot.result.removed_entries] == ["Tell the *support* channel"]

    assert dreamt.result is not None
    assert dreamt.result.deduped_entries == 1
    gone = after_forget.keys() - after_dream.keys()
    assert len(gone) == 1
    assert gone < set(TWINS)
    changed = {path for path in after_dream if after_dream[path] != after_forget[path]}
    assert changed <= set(TWINS)

    assert contents(root) == before
    assert [(one.kind, one.revision) for one in history][-1] == ("forget", forgot.revision)
    assert [one.kind for one in history] == ["undo", "forget"]


def test_a_second_dream_finds_nothing_left_to_do(start, root: Path):
    service = start()
    with Client(service.url, service.token) as client:
        done(client, client.dream())
        before = contents(root)
        again = done(client, client.dream())

    assert (again.revision, again.result and again.result.deduped_entries) == (None, 0)
    assert contents(root) == before


def test_a_lived_in_folder_is_listed_searched_indexed_and_reviewed(start, root: Path):
    (root / "project/vendor.md").write_bytes(note("Vendor").replace(b"type", b'review: "true"\ntype', 1))
    service = start()
    with Client(service.url, service.token) as client:
        done(client, client.remember("The staging database moved to osprey in March.", scope="project"))
        (waiting,) = client.waiting()
        approved = done(client, client.review(client.document(waiting), "approve"))
        assert client.waiting() == ()
    headers = {"Authorization": f"Bearer {service.token}"}
    with httpx2.Client(base_url=service.url, headers=headers) as http:
        listed = http.get("/workspace/memory/documents?scope=project&limit=1000").json()
        hits = http.get("/workspace/memory/search", params={"q": "\u5496\u5561"}).json()["hits"]
        index = http.get("/workspace/memory/index/project").json()["content"]

    known = [path for path in TEXTS if path.startswith(("project/", "pinned/"))]
    paths = {one["path"] for one in listed["documents"]}
    assert set(known) <= paths
    assert len(paths) >= TOPICS + len(known) + len(TWINS)
    assert [hit["path"] for hit in hits] == ["project/tee.md"]
    assert {link.path for link in parse_index(index)} <= paths
    assert len(index.splitlines()) > TOPICS
    assert approved.result is not None
    assert approved.result.summary == "Approved project/project/vendor.md."
    assert "(project/vendor.md)" in index
    assert (root / "project/vendor.md").read_bytes() == note("Vendor")


def test_git_tells_people_what_happened(start, root: Path, memory: Path):
    service = start()
    with Client(service.url, service.token) as client:
        forgot = done(client, client.forget("close the milestone"))

    def log() -> str:
        command = ["git", "--git-dir", str(memory / "memlane/history.git"), "log", "-p", "-1"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    until(lambda: f"{forgot.revision} forget: " in log())  # children show it when they are quiet
    assert "-- Close the milestone" in log()


def test_the_doctor_finds_what_is_odd_and_loses_nothing(tmp_path: Path, root: Path, workspace: Path):
    before = contents(root)

    answer = subprocess.run(
        [sys.executable, "-P", "-m", "memlane", "doctor", str(workspace), "--json"],
        env=environment(tmp_path, MEMLANE_MEMORY_DIR=str(tmp_path / "memory")),
        capture_output=True,
        check=False,
    )

    found = {(one["code"], Path(one["path"]).name) for one in json.loads(answer.stdout)["findings"]}
    assert answer.returncode == 1
    assert ("document_malformed", "plain.md") in found
    assert ("document_not_utf8", "latin.md") in found
    assert contents(root) == before


def test_what_is_purged_is_nowhere_any_more(start, root: Path, memory: Path):
    service = start()
    fact = "The vault in the cellar of the old house beside the river and the mill is opened with heliotrope."
    with Client(service.url, service.token) as client:
        saved, known = (done(client, client.remember(fact)) for _ in range(2))
        previewed = done(client, client.forget("heliotrope", dry_run=True))
        forgot = done(client, client.forget("heliotrope", purge=True))
        earlier = [client.get(task.task_id) for task in (saved, known, previewed, forgot)]

    assert "heliotrope" not in "".join(task.to_json() for task in earlier)
    service.process.terminate()  # a child that lives may bring the history up to the journal meanwhile
    service.process.wait(STOP_LIMIT_S)
    files = [path for path in memory.rglob("*") if path.is_file()]
    assert [path for path in files if b"heliotrope" in path.read_bytes()] == []
