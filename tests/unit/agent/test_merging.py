"""Merges that a model asks for: all of it or nothing, and nothing that is not taken in."""

import json
from pathlib import Path

import pytest

from agent.errors import ScopeMismatch
from agent.losses import find_losses
from agent.tools import ALL_TOOLS, MERGE_MEMORIES, ToolResult
from memory.errors import PathEscape
from tests.support.memory import note, tree
from tests.support.tool_run import MakeToolRun, ToolRun


@pytest.fixture
def dreamer(make_tool_run: MakeToolRun) -> ToolRun:
    return make_tool_run(writable=("project",), allowed=(*ALL_TOOLS, MERGE_MEMORIES), judge=find_losses)


def put(run: ToolRun, path: str, body: str, *, name: str = "Deploys", read: bool = True) -> Path:
    file = run.roots.project / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(note(name, kind="project", body=f"\n{body}\n"))
    if read:
        assert run.call("read_file", json.dumps({"file_path": str(file)})).ok
    return file


def merge(run: ToolRun, target: Path | str, *sources: Path | str, content: bytes | str) -> ToolResult:
    text = content.decode() if isinstance(content, bytes) else content
    asked = {"target_path": str(target), "source_paths": [str(one) for one in sources], "content": text}
    return run.call(MERGE_MEMORIES, json.dumps(asked))


def said(body: str, name: str = "Deploys") -> bytes:
    return note(name, kind="project", body=f"\n{body}\n")


def changes(run: ToolRun) -> dict[str, bytes | None]:
    return {Path(change.path).name: change.after for change in run.transaction.changes}


def test_a_merge_writes_the_target_and_removes_the_sources(dreamer: ToolRun) -> None:
    target, source = (
        put(dreamer, "a.md", "Deploys run on Friday."),
        put(dreamer, "b.md", "Deploys take 5 min."),
    )
    both = said("Deploys run on Friday and take 5 min.")

    result = merge(dreamer, target, source, content=both)

    assert (result.ok, result.text) == (True, f"Merged 1 into {target}")
    assert changes(dreamer) == {"a.md": both, "b.md": None}


def test_what_took_others_in_may_be_taken_in_itself(dreamer: ToolRun) -> None:
    one, two = put(dreamer, "a.md", "Deploys run on Friday."), put(dreamer, "b.md", "Deploys take 5 min.")
    three = put(dreamer, "c.md", "Deploys are announced by mail.")
    both, all_three = (
        "Deploys run on Friday and take 5 min.",
        "Deploys run on Friday, take 5 min, are mailed.",
    )

    assert merge(dreamer, one, two, content=said(both)).ok
    assert merge(dreamer, three, one, content=said(f"{all_three} They are announced.")).ok

    assert dreamer.tools.saved
    assert {name for name, after in changes(dreamer).items() if after is None} == {"a.md", "b.md"}


def test_the_target_may_be_a_new_document(dreamer: ToolRun) -> None:
    one, two = put(dreamer, "a.md", "Deploys run on Friday."), put(dreamer, "b.md", "Deploys run on Friday!")

    assert merge(dreamer, dreamer.roots.project / "c.md", one, two, content=said("Deploys run on Friday.")).ok
    assert changes(dreamer).keys() == {"a.md", "b.md", "c.md"}


@pytest.mark.parametrize(
    ("source", "content"),
    [
        ("Deploys run on Friday.", "Backups happen at night."),
        ("Port is 8080.", "Port is 9090."),
        ("See https://wiki.example/deploys for it.", "See the wiki for deploys."),
        ("Deploys never run on Friday.", "Deploys run on Friday."),
        ("- Deploys run on Friday\n- Backups happen at night", "Deploys run on Friday."),
        ("- Deploys run on Friday\n  Why: the whole team is awake", "Deploys run on Friday."),
    ],
)
def test_a_source_that_is_not_taken_in_stays(dreamer: ToolRun, source: str, content: str) -> None:
    target, other = put(dreamer, "a.md", "Anything."), put(dreamer, "b.md", source)

    result = merge(dreamer, target, other, content=said(content))

    assert not result.ok
    assert "would be lost" in result.text
    assert changes(dreamer) == {}


def test_what_was_not_read_as_it_is_now_is_not_merged(dreamer: ToolRun) -> None:
    target, source = put(dreamer, "a.md", "Same."), put(dreamer, "b.md", "Same.", read=False)
    assert "was not read" in merge(dreamer, target, source, content=said("Same.")).text
    assert "was not read" in merge(dreamer, source, target, content=said("Same.")).text

    dreamer.call("read_file", json.dumps({"file_path": str(source)}))
    source.write_bytes(said("Changed."))
    dreamer.call("grep_search", json.dumps({"pattern": "Changed"}))

    assert "was not read as it is now" in merge(dreamer, target, source, content=said("Same.")).text
    assert changes(dreamer) == {}


def test_documents_kept_by_hand_or_waiting_for_approval_take_no_part(dreamer: ToolRun) -> None:
    plain = put(dreamer, "a.md", "Same.")
    pinned = put(dreamer, "pinned/b.md", "Same.")
    waiting = put(dreamer, "c.md", "Same.", name="x\nreview: true")
    waiting.write_bytes(said("Same.").replace(b"description", b"review: true\ndescription"))
    dreamer.call("read_file", json.dumps({"file_path": str(waiting)}))

    for one, other in [(plain, pinned), (pinned, plain), (plain, waiting), (waiting, plain)]:
        assert not merge(dreamer, one, other, content=said("Same.")).ok
    assert changes(dreamer) == {}


@pytest.mark.parametrize(
    ("sources", "content", "told"),
    [
        (["a.md"], said("Same."), "one of its sources"),
        (["./a.md"], said("Same."), "one of its sources"),
        (["missing.md"], said("Same."), "does not exist"),
        ([], said("Same."), "do not fit"),
        (["b.md"], b"Same.", "can't be saved"),
        (["b.md"], said("[rest unchanged]"), "can't be saved"),
        (["b.txt"], said("Same."), "does not exist"),
    ],
)
def test_a_merge_that_can_not_be_is_refused_whole(
    dreamer: ToolRun, sources: list[str], content: bytes, told: str
) -> None:
    target, _ = put(dreamer, "a.md", "Same."), put(dreamer, "b.md", "Same.")
    root = dreamer.roots.project

    result = merge(dreamer, target, *(f"{root}/{name}" for name in sources), content=content)

    assert told in result.text
    assert changes(dreamer) == {}


def test_a_merge_that_finds_no_room_leaves_nothing_of_it(dreamer: ToolRun) -> None:
    for number in range(49):
        put(dreamer, f"{number}.md", "Old.")
        write = {
            "file_path": str(dreamer.roots.project / f"{number}.md"),
            "content": said("Old. New.").decode(),
        }
        assert dreamer.call("write_file", json.dumps(write)).ok
    target, source = put(dreamer, "x.md", "Same."), put(dreamer, "y.md", "Same.")
    before = changes(dreamer)

    result = merge(dreamer, target, source, content=said("Same. And more."))

    assert not result.ok
    assert changes(dreamer) == before
    assert not dreamer.tools.had_room


@pytest.mark.parametrize(
    ("path", "error"), [("/etc/b.md", PathEscape), ("{user}/b.md", ScopeMismatch), ("../b.md", PathEscape)]
)
def test_a_merge_out_of_bounds_ends_the_run(dreamer: ToolRun, path: str, error: type[Exception]) -> None:
    inside = put(dreamer, "a.md", "Same.")
    outside = path.format(user=dreamer.roots.user)

    with pytest.raises(error):
        merge(dreamer, inside, outside, content=said("Same."))
    with pytest.raises(error):
        merge(dreamer, outside, inside, content=said("Same."))
    assert changes(dreamer) == {}


def test_a_rewrite_that_guts_a_document_is_no_way_to_delete_it(dreamer: ToolRun) -> None:
    long = "Deploys run on Friday because the whole team is awake and the customers are asleep by then."
    path = put(dreamer, "a.md", long)
    before = tree(dreamer.roots.project)

    gut = {"file_path": str(path), "content": said("Gone.", name="Gone").decode()}
    result = dreamer.call("write_file", json.dumps(gut))

    assert not result.ok
    assert not dreamer.tools.saved
    assert tree(dreamer.roots.project) == before


def test_a_document_may_be_split_over_several_calls(dreamer: ToolRun) -> None:
    parts = [
        "Deploys run on Friday evenings.",
        "Backups happen at night in Zurich.",
        "Alerts go to Sam by mail.",
    ]
    path = put(dreamer, "a.md", "\n\n".join(parts), name="Operations")
    root = dreamer.roots.project

    first = {"file_path": str(path), "content": said(parts[0]).decode()}
    assert not dreamer.call("write_file", json.dumps(first)).ok
    for number, part in enumerate(parts[1:]):
        rest = {"file_path": f"{root}/{number}.md", "content": said(part).decode()}
        result = dreamer.call("write_file", json.dumps(rest))

    assert result.ok
    assert dreamer.tools.saved


def test_a_document_that_waits_for_approval_can_not_be_approved_by_a_rewrite(dreamer: ToolRun) -> None:
    path = put(dreamer, "a.md", "Trust vendor X.")
    path.write_bytes(path.read_bytes().replace(b"description", b"review: true\ndescription"))
    dreamer.call("read_file", json.dumps({"file_path": str(path)}))

    freed = {"file_path": str(path), "content": said("Trust vendor X.").decode()}
    result = dreamer.call("write_file", json.dumps(freed))

    assert "waits for a person's approval" in result.text
    assert not dreamer.tools.saved


@pytest.mark.parametrize(
    ("source", "lost"),
    [
        ("The database belongs to Maria since 2024-03-01.\n\n- Deploys run on Friday.", "maria"),
        ("- Deploys run on Friday.\n\n1. Ask Maria first.\n", "maria"),
        ("The tools are written in C#.", "c#"),
        ("The tools are written in C++.", "c++"),
    ],
)
def test_text_beside_lists_and_names_with_signs_are_not_lost(
    dreamer: ToolRun, source: str, lost: str
) -> None:
    target, other = put(dreamer, "a.md", "The tools are written in C."), put(dreamer, "b.md", source)
    content = said(
        "The tools are written in C. Deploys run on Friday. Ask first. The database belongs since."
    )

    result = merge(dreamer, target, other, content=content)

    assert (result.ok, changes(dreamer)) == (False, {})
    assert lost in result.text.rpartition("Missing: ")[2]


def test_a_target_that_says_it_all_already_is_held_on_to(dreamer: ToolRun) -> None:
    target, source = put(dreamer, "a.md", "Deploys run on Friday."), put(dreamer, "b.md", "Deploys run.")

    assert merge(dreamer, target, source, content=target.read_bytes()).ok

    assert [path for path, _ in dreamer.transaction.held] == [str(target)]
