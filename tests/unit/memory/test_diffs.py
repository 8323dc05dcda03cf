import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.diffs import diff_document

CONTENTS = st.lists(st.sampled_from(["a", "b", "", "c\r", "d\x0ce", "ü\u2028v"]), max_size=9).map(
    lambda lines: "\n".join(lines).encode()
)


def test_a_change_shows_three_lines_around_it():
    before = b"".join(b"line %d\n" % number for number in range(10))

    found = diff_document("user", "a.md", before=before, after=before.replace(b"5", b"five"))

    assert (found.scope, found.path, found.change) == ("user", "a.md", "updated")
    assert found.diff == (
        "--- a/a.md\n+++ b/a.md\n@@ -3,7 +3,7 @@\n"
        " line 2\n line 3\n line 4\n-line 5\n+line five\n line 6\n line 7\n line 8\n"
    )


def test_a_created_and_a_deleted_document_are_compared_with_nothing():
    created = diff_document("project", "a.md", before=None, after=b"x\n")
    deleted = diff_document("project", "a.md", before=b"x", after=None)

    assert (created.change, created.diff) == ("created", "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+x\n")
    assert (deleted.change, deleted.diff) == (
        "deleted",
        "--- a/a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n",
    )


def test_bytes_that_are_no_utf8_show_as_replacement_characters():
    assert "-\ufffd\n+x\n" in diff_document("user", "a.md", before=b"\xff\n", after=b"x\n").diff


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(CONTENTS, CONTENTS)
def test_git_applies_a_diff_to_the_byte(tmp_path, before, after):
    document = tmp_path / "a.md"
    document.write_bytes(before)
    patch = diff_document("user", "a.md", before=before, after=after).diff.encode()

    if before != after:
        subprocess.run(
            ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"],
            cwd=tmp_path,
            input=patch,
            check=True,
        )

    assert document.read_bytes() == after
