"""Dreams through the real child, offline and with a model server that behaves, or doesn't."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from core import acp
from core.jsonrpc import ErrorResponse
from tests.support.agent_child import AgentChild, StartChild, task_params
from tests.support.memory import tree
from tests.support.planted_memory import CONTRADICTORY, EXACT, REWORDED, plant
from tests.support.scripted_model import Answer, Body, calls, document, says, status

WS = {"cwd": "/srv/ws2"}


def test_the_recorded_requests_get_the_recorded_answers(offline: AgentChild) -> None:
    refused = offline.call(acp.DREAM, WS | {"scope": "team"})
    assert (refused.error_code, refused.message) == (-32602, "Invalid params: Invalid scope")
    offline.remember("The release branch is cut on Fridays", scope="project")

    answer = offline.call(acp.DREAM, WS)

    assert answer.pop("left")["scope"] == "project"
    assert answer == {
        "summary": "Managed auto-memory dream (agent): Nothing needed consolidation.",
        "touchedTopics": [],
        "dedupedEntries": 0,
        "touchedScopes": [],
        "usage": {"inputTokens": 0, "outputTokens": 0, "modelCalls": 3},
        "recovered": False,
    }
    assert '"event": "dream_ended"' in offline.log


def test_a_model_that_is_refused_fails_the_dream_in_its_own_words(start_child: StartChild) -> None:
    child, _ = start_child([status(401)])
    child.project_root.mkdir(parents=True)
    (child.project_root / "a.md").write_text(document())

    failed = child.call(acp.DREAM, task_params(child, "dream"))

    assert isinstance(failed, ErrorResponse)
    assert (failed.error_code, failed.message) == (-32099, "Workspace memory dream failed")
    assert failed.data["errorKind"] == "model_rejected"


def test_a_write_outside_of_memory_fails_the_dream_whole(start_child: StartChild) -> None:
    evil = {"file_path": "/etc/evil.md", "content": document()}
    child, _ = start_child([calls(("write_file", evil))])
    child.project_root.mkdir(parents=True)
    (child.project_root / "a.md").write_text(document())
    before = child.documents()

    failed = child.call(acp.DREAM, task_params(child, "dream"))

    assert failed.data == {
        "errorKind": "dream_failed",
        "details": "Dream agent wrote outside of managed memory",
    }
    assert child.documents() == before


def test_a_model_merges_the_planted_pairs_among_two_hundred_documents(start_child: StartChild) -> None:
    child, model = start_child(lambda body: next(script)(body))
    child.project_root.mkdir(parents=True)
    planted = plant(child.project_root)
    pairs = [
        (child.project_root / f"{stem}-a.md", child.project_root / f"{stem}-b.md")
        for stem in planted[EXACT] + planted[REWORDED]
    ]
    script = merging(pairs)
    before = tree(child.project_root)

    result = child.call(acp.DREAM, task_params(child, "dream"))
    again = child.call(acp.DREAM, task_params(child, "dream"))

    gone = {path for path in before if not Path(path).exists()}
    assert gone == {str(source) for _, source in pairs}
    assert (result["dedupedEntries"], result["touchedTopics"]) == (20, ["project"])
    assert result["summary"] == "Managed auto-memory dream (agent): Merged twenty."
    changed = {path for path in before.keys() - gone if Path(path).read_bytes() != before[path]}
    assert changed == {str(child.project_root / f"{stem}-a.md") for stem in planted[REWORDED]}
    assert all((child.project_root / f"{stem}-a.md").exists() for stem in planted[CONTRADICTORY])
    assert (again["dedupedEntries"], again["usage"]["modelCalls"]) == (0, 0)
    assert len(model.requests) == 3


def merging(pairs: list[tuple[Path, Path]]) -> Iterator[Callable[[Body], Answer]]:
    """A model that reads the pairs, merges each into its first with both wordings, and says so."""
    paths = [path for pair in pairs for path in pair]
    yield lambda _: calls(*(("read_file", {"file_path": str(path)}) for path in paths))
    yield lambda _: calls(*(merge(*pair) for pair in pairs))
    yield lambda _: says("Merged twenty.")


def merge(target: Path, source: Path) -> tuple[str, dict[str, Any]]:
    content, other = target.read_text(), source.read_text().rpartition("---\n")[2]
    if source.name.split("-")[1] == REWORDED:
        content += other
    return "merge_memories", {
        "target_path": str(target),
        "source_paths": [str(source)],
        "content": content,
    }
