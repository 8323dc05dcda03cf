import pytest

from memory.beneath import open_folder
from memory.errors import PathRefused
from memory.folded_names import FoldedNames
from memory.name_tree import NameTree


def tree_of(*paths: str) -> NameTree:
    tree = NameTree()
    for path in paths:
        tree.add(path.split("/"))
    return tree


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("a/tea.md", "a/TEA.md"),
        ("a/tea.md", "A/coffee.md"),
        ("a/stra\u00dfe.md", "a/STRASSE.md"),
        ("a/caf\u00e9.md", "a/cafe\u0301.md"),
        ("a/tea.md", "a/tea.md/b.md"),
        ("a/tea.md/b.md", "a/tea.md"),
    ],
)
def test_two_paths_that_one_file_system_could_not_hold_are_refused(there: str, new: str) -> None:
    with pytest.raises(PathRefused):
        tree_of(there).check(new.split("/"))


@pytest.mark.parametrize("new", ["a/tea.md", "a/coffee.md", "b/tea.md", "a/b/tea.md", "tea.md"])
def test_other_paths_and_the_same_one_have_a_place(new: str) -> None:
    tree_of("a/tea.md").check(new.split("/"))


def test_what_was_taken_out_is_in_nobodys_way_and_its_folder_stays_for_the_others() -> None:
    tree = tree_of("a/tea.md", "a/tea.md", "a/coffee.md")

    tree.discard(["a", "tea.md"])
    tree.discard(["a", "tea.md"])

    assert ["a", "tea.md"] not in tree
    assert ["a", "coffee.md"] in tree
    tree.check(["a", "TEA.md"])
    with pytest.raises(PathRefused):
        tree.check(["A", "tea.md"])


def test_a_twin_that_comes_up_in_a_folder_looked_at_before_is_found(tmp_path) -> None:
    names = FoldedNames()
    with open_folder(tmp_path) as folder:
        names.refuse_twin(folder, "Tea.md")
        (tmp_path / "tea.md").touch()

        with pytest.raises(PathRefused, match=r"tea\.md"):
            names.refuse_twin(folder, "Tea.md")
        names.refuse_twin(folder, "coffee.md")
