import pytest

from memory.validation import find_problems, is_placeholder
from tests.support.memory import note


def test_a_rendered_document_has_no_problem():
    assert list(find_problems(note())) == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xff", "not UTF-8"),
        (b"text", "frontmatter"),
        (b"---\nname: a\ndescription: b\n---\n", "`type`"),
        (b"---\ntype: users\nname: a\ndescription: b\n---\n", "`type`"),
        (b"---\ntype: user\ntitle: a\ndescription: b\n---\n", "`name`"),
        (b"---\ntype: user\nname: a\n---\n", "`description`"),
        (b"---\ntype: user\nname: a\ndescription: b\n---\n\0", "NUL"),
        (note(body="x" * 256 * 1024), "larger"),
        (note(body="a\n... rest unchanged\n"), "line 7"),
    ],
)
def test_it_names_what_is_wrong(content, problem):
    assert [problem in found for found in find_problems(content)] == [True]


def test_a_header_that_stays_as_it_was_is_not_judged():
    before = b"---\ntype: user\n---\n- tea\n- rain\n"

    assert list(find_problems(before.replace(b"- tea\n", b""), before=before)) == []
    assert list(find_problems(before.replace(b"user", b"feedback"), before=before)) != []


def test_a_line_that_was_there_before_is_no_placeholder():
    content = note(body="[unchanged]\n")

    assert list(find_problems(content, before=content)) == []


@pytest.mark.parametrize(
    "line",
    [
        "... rest unchanged",
        "[rest of file unchanged]",
        "<!-- rest of the content remains the same -->",
        "(unchanged)",
        "# … existing content …",
        "- ... (remaining entries omitted for brevity)",
        "... the rest of the document ...",
        "*Existing text kept as is*",
        "(other sections same as before)",
    ],
)
def test_a_line_in_place_of_text_is_a_placeholder(line):
    assert is_placeholder(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "---",
        "...",
        "The API stays unchanged until version 3.",
        "Rest is important after long runs.",
        "- the same",
        "Wait ... rest is fine.",
        "Existing users are kept in the old cluster",
        "... " + "rest unchanged " * 20,
    ],
)
def test_ordinary_text_is_no_placeholder(line):
    assert not is_placeholder(line)
