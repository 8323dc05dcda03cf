import pytest

from memory.frontmatter import read_header, set_fields


@pytest.mark.parametrize("header", ['"review": false\n', "'review' : false\n", "review: false\n"])
def test_a_field_is_set_however_its_key_is_quoted(header: str) -> None:
    assert read_header(set_fields(header, {"review": "yes"})) == {"review": "yes"}
