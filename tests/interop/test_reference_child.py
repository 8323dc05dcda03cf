"""The service with the real `qwen --acp`: its tasks are ours to tell, to show and to take back."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from memlane.models import Task
from memory.doctor import all_roots, examine
from memory.index import build_index
from tests.support.child_processes import wait_until_exit
from tests.support.reference import ReferenceService, reference_service
from tests.support.scripted_model import calls, document, silent, status
from tests.support.service import events_of, facts

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReferenceService]:
    with reference_service(tmp_path_factory.mktemp("service")) as running:
        yield running


def remembered(service: ReferenceService, name: str) -> Task:
    """Have the child write a document of this name to the user's memory."""
    path = service.user / "user" / f"{name}.md"
    text = document(name=name, body=f"Likes {name}.")
    service.answer(calls(("write_file", {"file_path": str(path), "content": text})))
    return service.client.wait(service.client.remember(f"I like {name}."))


def changes_of(service: ReferenceService, task: Task) -> list[str]:
    """Revisions that were announced as this task's."""
    told = [
        facts(one) for one in events_of(service.running, service.workspace) if one.type == "memory_changed"
    ]
    return [one["revision"] for one in told if one["taskId"] == task.task_id]


def shown(service: ReferenceService, file: Path) -> str:
    """A path as results show it."""
    return f"~/{file.relative_to(service.folder)}"


def get(service: ReferenceService, path: str) -> Any:
    authorization = {"Authorization": f"Bearer {service.running.token}"}
    with urlopen(Request(f"{service.running.url}{path}", headers=authorization)) as answer:
        return json.load(answer)


def test_a_fact_is_remembered_in_a_commit_that_can_be_shown_and_undone(service: ReferenceService):
    task = remembered(service, "tea")
    file = service.user / "user" / "tea.md"

    assert (task.status, task.attempt) == ("completed", 1), task.error
    assert task.result is not None
    assert (task.result.files_touched, task.result.touched_scopes) == ((shown(service, file),), ("user",))
    assert task.revision is not None
    revision = service.client.revision(task.revision)
    assert (revision.task_id, revision.kind) == (task.task_id, "remember")
    assert [(one.path, one.change) for one in revision.diff] == [("user/tea.md", "created")]
    assert changes_of(service, task) == [task.revision]

    undone = service.client.wait(service.client.undo(task.revision))
    assert (undone.status, file.exists()) == ("completed", False)


def test_what_is_forgotten_comes_back_by_an_undo(service: ReferenceService):
    remembered(service, "coffee")
    file = service.user / "user" / "coffee.md"
    before = file.read_bytes()
    chosen = {"selectedCandidateIds": ["user:user/coffee.md"], "reasoning": "It is meant."}
    service.answer(calls(("respond_in_schema", chosen), streamed=False))

    task = service.client.wait(service.client.forget("coffee"))

    assert task.result is not None, task.error
    assert [one.file_path for one in task.result.removed_entries] == [shown(service, file)]
    assert (file.exists(), task.revision is None) == (False, False)
    service.client.wait(service.client.undo(str(task.revision)))
    assert file.read_bytes() == before


def test_a_dream_is_one_commit(service: ReferenceService):
    path = service.project / "project" / "kettle.md"
    text = document(kind="project", name="Kettle", body="The kettle is green.")
    service.answer(calls(("write_file", {"file_path": str(path), "content": text})))

    task = service.client.wait(service.client.dream())

    assert (task.status, path.read_text()) == ("completed", text), task.error
    revision = service.client.revision(str(task.revision))
    assert [(one.scope, one.path) for one in revision.documents] == [("project", "project/kettle.md")]


def test_a_model_that_fails_fails_the_task_and_changes_nothing(service: ReferenceService):
    service.answer(*[status(401)] * 9)

    task = service.client.wait(service.client.remember("I like milk."))

    assert task.error is not None
    assert (task.error.code, task.error.message) == ("remember_failed", "Workspace memory remember failed.")
    assert task.revision is None


def test_a_task_past_its_time_ends_with_its_child(service: ReferenceService):
    remembered(service, "cocoa")
    children = service.children()
    service.answer(silent())

    task = service.client.wait(service.client.remember("I like water."))

    assert task.error is not None
    assert (task.error.code, task.attempt) == ("remember_timeout", 1)
    for pid in children:
        wait_until_exit(pid)


def test_what_a_child_wrote_before_it_was_killed_is_told_shown_and_undone(service: ReferenceService):
    path = service.project / "project" / "broken-off.md"
    text = document(kind="project", name="Broken off", body="Half of it.")
    service.answer(calls(("write_file", {"file_path": str(path), "content": text})), silent())
    started = service.client.dream()
    service.wait_asked()
    assert path.exists()

    os.kill(service.children()[-1], signal.SIGKILL)
    task = service.client.wait(started)

    assert task.error is not None
    assert (task.error.code, task.attempt) == ("dream_failed", 1)
    assert task.error.message.endswith("Memory may have changed.")
    assert service.client.revision(str(task.revision)).task_id == task.task_id
    assert changes_of(service, task) == [task.revision]
    service.client.wait(service.client.undo(str(task.revision)))
    assert not path.exists()


def test_a_dry_run_is_refused_because_the_child_would_write(service: ReferenceService):
    task = service.client.wait(service.client.dream(dry_run=True))

    assert task.error is not None
    assert task.error.code == "agent_unsupported"


def test_what_the_child_writes_is_read_by_ours(service: ReferenceService):
    remembered(service, "milk")

    listed = get(service, "/workspace/memory/documents")
    index = get(service, "/workspace/memory/index/user")

    assert "user/milk.md" in [one["path"] for one in listed["documents"]]
    assert index["content"] == build_index(service.user)
    assert (service.user / "MEMORY.md").read_text() == build_index(service.user)
    base = service.folder / "memory"
    assert examine(base, all_roots(base)) == ()
