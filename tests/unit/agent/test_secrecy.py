"""Secrets on their way into memory, by policy. No value here was ever issued."""

import base64
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agent.errors import SecretDetected
from core.policies import Policy, SecretPolicy
from tests.support.calling_model import CallingModel
from tests.support.memory import note, tree
from tests.support.task_memory import TaskMemory

SECRET = "AKIA" + "Q3EXX7PLMN2TRZV5"
SPLIT = f"{SECRET[:7]}\n{SECRET[7:]}"
ENCODED = base64.b64encode(f"the key {SECRET}".encode()).decode()


def write(memory: TaskMemory, content: str, *, name: str = "a.md") -> CallingModel:
    """A model that writes this, whatever it was asked."""
    model = CallingModel([("write_file", {"file_path": str(memory.roots.user / name), "content": content})])
    memory.use(model)
    return model


def said(body: str, *, name: str = "Key") -> str:
    return note(name, body=f"\n{body}\n").decode()


def put(memory: TaskMemory, body: str) -> Path:
    path = memory.roots.user / "old.md"
    path.write_text(said(body))
    return path


def files(memory: TaskMemory) -> dict[str, bytes]:
    return tree(memory.roots.user, memory.roots.project)


@pytest.mark.parametrize("content", [f"The key is {SECRET}", SPLIT, ENCODED, "password: hunter2"])
def test_a_secret_in_a_request_fails_before_any_model_reads_it(memory: TaskMemory, content: str) -> None:
    model = write(memory, said("x"))

    with capture_logs() as logs, pytest.raises(SecretDetected) as detected:
        memory.remember(content)

    assert model.asked == []
    assert files(memory) == {}
    for value in (SECRET, SPLIT, ENCODED, "hunter2"):
        assert value not in str(detected.value)
        assert value not in str(logs)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (said(f"The key is {SECRET}."), "a.md"),
        (said("The key.", name=SECRET), "a.md"),
        (said("The key.").replace("description: ", f"note: {SECRET}\ndescription: "), "a.md"),
        (said(SPLIT), "a.md"),
        (said(ENCODED), "a.md"),
        (said("The key."), f"{SECRET}.md"),
        (said("The key."), f"{SECRET}/a.md"),
    ],
)
def test_a_secret_in_what_a_model_wrote_commits_nothing(memory: TaskMemory, content: str, name: str) -> None:
    write(memory, content, name=name)

    with pytest.raises(SecretDetected):
        memory.remember("Remember the key")

    assert files(memory) == {}


def test_redacted_secrets_reach_neither_model_nor_memory_nor_result(memory: TaskMemory) -> None:
    memory.policy = Policy(secrets="redact")
    model = write(memory, said(f"The key is {SECRET}, it turns."))

    result = memory.remember(f"The key is {SECRET}, it turns.")

    assert "The key is (redacted), it turns." in model.asked[0][1].text
    assert SECRET not in str(model.asked)
    assert SECRET not in str(result)
    assert b"The key is (redacted), it turns." in (memory.roots.user / "a.md").read_bytes()
    assert all(SECRET.encode() not in content for content in tree(memory.base).values())


def test_a_name_can_not_be_redacted(memory: TaskMemory) -> None:
    memory.policy = Policy(secrets="redact")
    write(memory, said("x"), name=f"{SECRET}.md")

    with pytest.raises(SecretDetected):
        memory.remember("Remember the key")
    assert files(memory) == {}


def test_what_is_allowed_is_kept_as_it_is(memory: TaskMemory) -> None:
    memory.policy = Policy(secrets="allow")
    write(memory, said(SECRET))

    memory.remember(SECRET)

    assert SECRET in (memory.roots.user / "a.md").read_text()


def test_a_document_that_holds_a_secret_already_can_be_updated(memory: TaskMemory) -> None:
    path = put(memory, f"- {SECRET}\n- Likes tea")
    edit = {"file_path": str(path), "old_string": "Likes tea", "new_string": "Likes green tea"}
    memory.use(CallingModel([("edit", edit)]))

    memory.remember("Likes green tea")

    assert f"- {SECRET}\n- Likes green tea" in path.read_text()


@pytest.mark.parametrize(("policy", "shown"), [("reject", "- (redacted)"), ("allow", f"- {SECRET}")])
def test_a_forgotten_secret_is_not_told_in_the_result(
    memory: TaskMemory, policy: SecretPolicy, shown: str
) -> None:
    memory.policy = Policy(secrets=policy)
    path = put(memory, f"- Deploy key - {SECRET}\n- Likes tea")
    memory.use(CallingModel([("select_entries", {"ids": ["user:old.md:0"]})]))

    result = memory.forget(f"the key {SECRET}")

    assert result["removedEntries"][0]["summary"] == f"Deploy key {shown}"
    assert SECRET not in path.read_text()
