"""Headers that PyYAML trips over are read like any other: one file must not stop a memory base."""

import pytest

from memory.document import parse_document
from memory.index import build_index


@pytest.mark.parametrize(
    "line",
    [
        "x: !!bool maybe",
        "x: !!bool",
        r'x: "\UFFFFFFFF"',
        r'x: "\U00110000"',
        f"%YAML 1.{'9' * 5000}",
        f"x: [{'9' * 5000}]",
    ],
)
def test_a_header_that_yaml_cannot_build_is_read_line_by_line(memory_base, line: str):
    data = f"---\n{line}\ntype: user\nname: Tea\ndescription: d\n---\n\nLikes tea.\n".encode()

    document = parse_document(data)
    memory_base.put(memory_base.user / "user" / "tea.md", data)

    assert document is not None
    assert (document.type, document.name) == ("user", "Tea")
    assert "[Tea](user/tea.md)" in build_index(memory_base.user)
