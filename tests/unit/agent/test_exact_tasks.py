"""What a policy leaves to undo and apply, which commit given bytes or nothing."""

import pytest

from agent.errors import BudgetExceeded, ScopeForbidden, SecretDetected
from core.acp import Scope
from core.errors import MemlaneError
from core.policies import Policy
from memory.paths import SCOPES
from tests.support.memory import documents_below, note
from tests.support.task_memory import TaskMemory, task_call

KEY = "AKIA" + "Q3E5GZ7JX2LWVBNM"


def put(memory: TaskMemory, name: str, body: str, scope: Scope = "user") -> None:
    file = memory.roots.of(scope) / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(note(name, body=f"\n{body}\n"))


@pytest.fixture
def forgotten(memory: TaskMemory) -> str:
    """A revision that took a key and a harmless document out of the user's memory."""
    put(memory, "one", f"The heron deploy key is {KEY}")
    put(memory, "two", "The heron deploy key is in the vault")
    memory.policy = Policy(secrets="allow")
    revision: str = memory.forget("heron deploy key")["revision"]
    assert documents_below(memory.base) == []
    return revision


AGAINST = [
    (Policy(scopes=frozenset({"project"}), secrets="allow"), ScopeForbidden),
    (Policy(max_writes=1, secrets="allow"), BudgetExceeded),
    (Policy(secrets="reject"), SecretDetected),
    (Policy(secrets="redact"), SecretDetected),
]


@pytest.mark.parametrize(("policy", "error"), AGAINST)
def test_an_undo_that_the_policy_is_against_changes_nothing(
    memory: TaskMemory, forgotten: str, policy: Policy, error: type[MemlaneError]
) -> None:
    memory.policy = policy

    with pytest.raises(error):
        memory.undo(forgotten)

    assert documents_below(memory.base) == []


def test_an_undo_that_the_policy_allows_gives_the_bytes_back(memory: TaskMemory, forgotten: str) -> None:
    memory.policy = Policy(scopes=frozenset({"user"}), max_writes=2, secrets="allow")

    assert memory.undo(forgotten)["touchedScopes"] == ["user"]

    assert KEY in (memory.roots.user / "one.md").read_text()


@pytest.mark.parametrize(("policy", "error"), AGAINST[:2])
def test_a_preview_of_what_the_policy_is_against_by_now_is_not_applied(
    memory: TaskMemory, policy: Policy, error: type[MemlaneError]
) -> None:
    for name in ("one", "two"):
        put(memory, name, "The heron deploy key is in the vault")
    preview = task_call("forget", dry_run=True)
    memory.forget("heron deploy key", call=preview)
    memory.policy = policy
    before = documents_below(memory.base)

    with pytest.raises(error):
        memory.apply(preview.task.id, kind="forget")

    assert documents_below(memory.base) == before
    memory.policy = Policy()
    assert memory.apply(preview.task.id, kind="forget")["touchedScopes"] == ["user"]


def test_what_is_undone_in_one_scope_is_not_kept_by_a_policy_against_the_other(memory: TaskMemory) -> None:
    for scope in SCOPES:
        put(memory, "gone", "The heron nests in the harbour", scope)
    revision = memory.forget("heron nests in the harbour", scope="project")["revision"]
    memory.policy = Policy(scopes=frozenset({"project"}))

    assert memory.undo(revision)["touchedScopes"] == ["project"]
