"""What an operator's policy keeps a task from."""

import pytest

from agent.budget import within_time
from agent.errors import BudgetExceeded, RunStopped, ScopeForbidden
from core.memory_calls import ImportedDocument, ImportParams
from core.policies import Policy
from tests.support.calling_model import CallingModel
from tests.support.memory import note, tree
from tests.support.task_memory import TaskMemory, task_call


def files(memory: TaskMemory) -> dict[str, bytes]:
    """Every document of both roots."""
    found = tree(memory.roots.user, memory.roots.project)
    return {path: content for path, content in found.items() if not path.endswith("MEMORY.md")}


def test_a_task_writes_only_where_the_policy_allows_it(memory: TaskMemory) -> None:
    memory.policy = Policy(scopes=frozenset({"project"}))

    assert memory.remember("Prefers tea")["touchedScopes"] == ["project"]


def test_a_task_that_may_write_nowhere_it_wants_to_is_refused(memory: TaskMemory) -> None:
    memory.policy = Policy(scopes=frozenset({"user"}))

    with pytest.raises(ScopeForbidden):
        memory.dream()


def test_time_is_what_is_left_of_both() -> None:
    call = task_call("remember")

    assert within_time(call, Policy()) is call
    assert within_time(call, Policy(max_seconds=3_600)).deadline == call.deadline
    assert within_time(call, Policy(max_seconds=1)).deadline.at_ms < call.deadline.at_ms


def test_an_agent_that_has_too_few_turns_is_stopped(memory: TaskMemory) -> None:
    memory.policy = Policy(max_turns=1)

    with pytest.raises(RunStopped):
        memory.remember("Prefers tea")

    assert files(memory) == {}


def test_no_model_is_asked_once_the_tokens_are_used(memory: TaskMemory) -> None:
    memory.policy = Policy(max_tokens=1)
    model = CallingModel([("list_directory", {"path": str(memory.roots.user)})], tokens=1)
    memory.use(model)

    with pytest.raises(BudgetExceeded):
        memory.remember("Prefers tea")

    assert len(model.asked) == 1
    assert files(memory) == {}


def test_a_task_that_would_change_too_many_documents_changes_none(memory: TaskMemory) -> None:
    memory.policy = Policy(max_writes=1)
    for name in ("a", "b"):
        (memory.roots.user / f"{name}.md").write_bytes(note("Tea", body=f"\n- Likes tea {name}\n"))
    before = files(memory)

    with pytest.raises(BudgetExceeded):
        memory.forget("likes tea")

    assert files(memory) == before


def test_an_import_into_a_scope_that_is_not_allowed_is_refused_as_that(memory: TaskMemory) -> None:
    memory.policy = Policy(scopes=frozenset({"project"}))
    document = ImportedDocument(scope="user", path="tea.md", content=note().decode())

    with pytest.raises(ScopeForbidden):
        memory.import_documents(ImportParams(cwd="/", documents=[document], conflict="skip"))

    assert files(memory) == {}
