"""What the offline model selects, and that it does so through the same question as any other model."""

import pytest

from agent.errors import SelectionFailed
from tests.support.scripted_model import document
from tests.support.task_memory import TaskMemory


def forgotten(memory: TaskMemory, query: str, facts: list[str]) -> list[str]:
    for number, fact in enumerate(facts):
        (memory.roots.user / f"{number}.md").write_text(document(name=f"Note {number}", body=fact))
    return [entry["summary"] for entry in memory.forget(query)["removedEntries"]]


@pytest.mark.parametrize(
    ("query", "facts", "expected"),
    [
        ("short answers", ["Prefers short answers.", "Prefers long walks."], ["Prefers short answers."]),
        ("please forget that I like tea", ["Likes tea.", "Likes coffee."], ["Likes tea."]),
        ("forget everything about tea", ["Likes tea.", "Drinks tea at noon.", "Likes rain."], 2),
        ("can you delete the deploy key fact", ["The deploy key fact is old.", "Keys are blue."], 1),
        ("CI", ["CI runs on host beta", "Asking is fine"], ["CI runs on host beta"]),
        ("green tea", ["Likes green tea.", "Likes tea."], ["Likes green tea."]),
        ("green tea in the morning", ["Drinks tea in the morning.", "Likes rain."], []),
        ("I don't like tea", ["Likes tea.", "Doesn't like coffee."], []),
        ("no such entry", ["Such an entry stays."], []),
        ("tea", ["Likes steak."], []),
        ("tea", ["Works in a team."], []),
        ("vergiss, dass ich Tee mag", ["Ich mag Tee.", "Ich mag Kaffee."], ["Ich mag Tee."]),
        ("忘记我喜欢绿茶", ["我喜欢绿茶", "我喜欢咖啡"], ["我喜欢绿茶"]),
        ("不喜欢绿茶", ["我喜欢绿茶"], []),
        ("c", ["c"], []),
    ],
)
def test_what_shares_the_words_of_a_request_is_selected(
    memory: TaskMemory, query: str, facts: list[str], expected: list[str] | int
) -> None:
    found = forgotten(memory, query, facts)

    assert found == expected or len(found) == expected


def test_a_word_that_six_entries_share_selects_none_of_them(memory: TaskMemory) -> None:
    facts = [f"Drinks tea at {number} o'clock." for number in range(6)]

    with pytest.raises(SelectionFailed):
        forgotten(memory, "tea", facts)

    assert len(list(memory.roots.user.glob("?.md"))) == 6


def test_the_title_counts_for_a_whole_document_and_for_no_single_entry(memory: TaskMemory) -> None:
    whole, bullets = memory.roots.user / "a.md", memory.roots.user / "b.md"
    whole.write_text(document(name="Hot drinks", body="Assam in the morning."))
    bullets.write_text(document(name="Hot drinks", body="- Assam\n- Darjeeling"))

    memory.forget("hot drinks")

    assert not whole.exists()
    assert bullets.exists()
