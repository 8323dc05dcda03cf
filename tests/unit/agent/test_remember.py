"""What remember makes of a run that found memory to be right as it is."""

from tests.support.calling_model import CallingModel
from tests.support.task_memory import TaskMemory, task_call


def test_a_known_fact_completes_without_a_change(memory: TaskMemory) -> None:
    memory.remember()
    path = memory.roots.user / "user/prefers-tea.md"
    before = path.read_bytes()
    again = task_call("remember")

    result = memory.remember(call=again)

    assert result["summary"] == 'Already known: "Prefers tea" in user/prefers-tea.md.'
    assert (result["filesTouched"], result["touchedScopes"]) == ([], [])
    assert "revision" not in result
    assert path.read_bytes() == before
    assert memory.store.resolve(again.task, close=False) == result


def test_an_unchanged_rewrite_of_what_has_no_frontmatter_is_known_by_its_path(memory: TaskMemory) -> None:
    path = memory.roots.user / "a.md"
    path.write_text("Tea.")
    read = ("read_file", {"file_path": str(path)})
    memory.use(CallingModel([read, ("write_file", {"file_path": str(path), "content": "Tea."})]))

    result = memory.remember()

    assert result["summary"] == "Already known: a.md."
    assert result["filesTouched"] == []
