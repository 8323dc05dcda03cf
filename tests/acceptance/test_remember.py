"""The main job on real parts: post a fact, find it as a markdown memory."""

import threading
from pathlib import Path

import pytest

from memlane.client import Client
from memlane.models import Event
from memory.document import parse_document
from tests.support.scripted_model import calls, document, scripted_model
from tests.support.service import commits_in

KEY = {"OPENAI_API_KEY": "sk-test", "OPENAI_MODEL": "scripted-1"}


def test_a_posted_fact_becomes_a_memory_that_is_listed_and_announced(start, memory: Path):
    service = start()
    seen: list[Event] = []
    with Client(service.url, service.token) as client, Client(service.url, service.token) as watcher:
        reader = threading.Thread(target=lambda: seen.append(_first_change(watcher)), daemon=True)
        reader.start()
        task = client.wait(client.remember("I prefer short answers."))
        reader.join(20)

    assert (task.status, task.outcome, task.attempt, task.revision) == ("completed", "completed", 1, "r1")
    (file,) = (memory / "memories").rglob("*/*.md")
    parsed = parse_document(file.read_bytes())
    assert parsed is not None
    assert (parsed.type, bool(parsed.name), bool(parsed.description)) == ("user", True, True)
    assert "I prefer short answers." in file.read_text()
    assert str(file.relative_to(memory / "memories")) in (memory / "memories" / "MEMORY.md").read_text()
    assert (seen[0].type, seen[0].data["taskId"]) == ("memory_changed", task.task_id)
    assert seen[0].data["revision"] == "r1"


def _first_change(client: Client) -> Event:
    # from the start of the log: the reader may connect after the change
    return next(event for event in client.events(last_event_id=0) if event.type == "memory_changed")


def test_a_model_behind_http_remembers_in_one_call(start, memory: Path):
    target = memory / "memories" / "user" / "short-answers.md"
    write = calls(("write_file", {"file_path": str(target), "content": document()}))
    with scripted_model([write]) as model:
        service = start(OPENAI_BASE_URL=model.base_url, **KEY)
        with Client(service.url, service.token) as client:
            task = client.wait(client.remember("I prefer short answers."))

        assert task.status == "completed", task.error
        assert len(model.requests) == 1
        assert task.usage is not None
        assert (task.usage.model_calls, task.usage.input_tokens) == (1, 100)
        assert "Prefers short answers." in target.read_text()


def test_clean_hides_from_the_model_what_is_known(start, memory: Path):
    folder = memory / "memories" / "user"
    script = [
        calls(
            (
                "write_file",
                {"file_path": str(folder / f"{number}.md"), "content": document(name=f"N{number}")},
            )
        )
        for number in range(3)
    ]
    with scripted_model(script) as model:
        service = start(OPENAI_BASE_URL=model.base_url, **KEY)
        with Client(service.url, service.token) as client:
            for mode in ("workspace", "workspace", "clean"):
                client.wait(client.remember("A fact.", context_mode=mode))

        assert "0.md" in model.texts(1)["system"]
        assert "0.md" not in model.texts(2)["system"]
        assert commits_in(memory) != []


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ({"MEMLANE_AGENT_COMMAND": "/no/such/agent --acp"}, "agent_unavailable"),
        (
            {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", **KEY, "MEMLANE_MODEL_TIMEOUT_S": "1"},
            "model_unavailable",
        ),
    ],
)
def test_what_the_agent_lacks_fails_the_task_and_not_the_service(start, memory: Path, setting, code):
    service = start(**setting)
    with Client(service.url, service.token) as client:
        task = client.wait(client.remember("A fact."))
        assert task.error is not None
        assert (task.status, task.error.code) == ("failed", code)

        again = client.wait(client.remember("Another."))

    assert again.status == "failed"
    assert commits_in(memory) == []
