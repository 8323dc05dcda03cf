import os

import pytest

from memory.renames import Renames


@pytest.fixture
def folder(tmp_path):
    opened = os.open(tmp_path, os.O_RDONLY)
    yield opened
    os.close(opened)


@pytest.fixture(params=[True, False], ids=["renameat2", "hard-links"])
def renames(request):
    return Renames(native=request.param)


def test_placing_gives_a_free_name_and_never_replaces(tmp_path, folder, renames):
    (tmp_path / "new").write_text("new")
    (tmp_path / "taken").write_text("old")

    answers = [renames.place(folder, "new", "taken"), renames.place(folder, "new", "free")]

    assert answers == [False, True]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"free": "new", "taken": "old"}


def test_exchanging_keeps_what_stood_there(tmp_path, folder, renames):
    (tmp_path / "new").write_text("new")
    (tmp_path / "taken").write_text("old")

    answers = [
        renames.exchange(folder, "new", "none", backup="backup"),
        renames.exchange(folder, "new", "taken", backup="backup"),
    ]

    assert answers == [False, True]
    assert (tmp_path / "taken").read_text() == "new"
    assert [path.read_text() for path in tmp_path.iterdir() if path.name != "taken"] == ["old"]


def test_swapping_exchanges_folders_or_says_that_it_can_not(tmp_path, folder, renames):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"in-{name}").touch()

    is_swapped = renames.swap(folder, "one", "other")

    assert is_swapped is renames.native
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["in-other" if is_swapped else "in-one"]


def test_what_goes_wrong_is_an_error_of_the_system(tmp_path, folder, renames):
    (tmp_path / "taken").write_text("old")

    for call in (
        lambda: renames.place(folder, "none", "free"),
        lambda: renames.exchange(folder, "taken", "taken/x", backup="backup"),
    ):
        with pytest.raises(OSError, match=r"taken|free"):
            call()


def test_a_refusal_of_the_flags_turns_to_hard_links(tmp_path, folder):
    renames = Renames()
    (tmp_path / "folder").mkdir()

    # The kernel answers EINVAL to a folder that shall move into itself, as it does to unknown flags.
    for call in (
        lambda: renames.place(folder, "folder", "folder/x"),
        lambda: Renames().exchange(folder, "folder", "folder/folder", backup="backup"),
    ):
        (tmp_path / "folder/folder").mkdir(exist_ok=True)
        with pytest.raises(OSError, match="folder"):
            call()

    assert not renames.native
