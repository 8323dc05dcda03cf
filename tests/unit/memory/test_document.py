import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document import MEMORY_TYPES, parse_document, render_document, set_document_fields

HEAD = "---\ntype: user\nname: Tea\ndescription: likes tea\n---\n\nbody\n"
WELL_FORMED = st.characters(exclude_categories=["Cs"])
BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
ONE_LINE = st.text(st.characters(exclude_categories=["Cs", "Zs", "Cf"], exclude_characters=BREAKS + "\0\t"))


def header(*lines):
    return ("---\n" + "".join(f"{line}\n" for line in lines) + "---\nbody").encode()


@given(st.sampled_from(MEMORY_TYPES), ONE_LINE.filter(bool), ONE_LINE, st.text(WELL_FORMED), ONE_LINE)
@settings(deadline=None, max_examples=150)
def test_a_rendered_document_parses_back_to_the_same_values(kind, name, description, body, source):
    made = render_document(type=kind, name=name, description=description, body=body, extra={"source": source})

    found = parse_document(made)

    assert found is not None
    assert (found.type, found.name, found.description, found.body) == (kind, name, description, body)
    assert found.extra == {"source": source}


@given(st.binary(max_size=400))
@settings(deadline=None, max_examples=150)
def test_any_bytes_can_be_read(data):
    parse_document(data)
    parse_document(b"---\ntype: user\n" + data + b"\n---\n")


@pytest.mark.parametrize(
    "data",
    [
        HEAD.encode(),
        HEAD.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + HEAD.encode(),
        HEAD.replace("---\n", "---  \n").encode(),
        header("# a comment", "type: user", "name: 'Tea'", "description: >-", "  likes", "  tea"),
        header('type: "user"', "title: Tea", "description: likes tea", "odd: [a, {b: c}]"),
        header("type: user", "name: Tea", "name: second", "description: likes tea"),
    ],
    ids=["LF", "CRLF", "BOM", "blanks after the fence", "comment", "title", "key twice"],
)
def test_it_reads_name_and_description_of(data):
    found = parse_document(data)

    assert found is not None
    assert (found.type, found.name, found.description) == ("user", "Tea", "likes tea")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no header",
        b"---\ntype: user\n",
        header("type: users"),
        header("name: Tea"),
        header("type: [user]"),
        header("just a line"),
        header("- a", "- b"),
        header("type: user", "long: " + "x" * 9_000),
        b" " + HEAD.encode(),
    ],
)
def test_what_has_no_known_type_in_a_header_is_no_memory(data):
    assert parse_document(data) is None


def test_text_that_is_no_yaml_is_read_line_by_line():
    found = parse_document(header("type: user", "name: a: b", "description: it's: `x` # [y", "empty:"))

    assert found is not None
    assert (found.name, found.description, found.extra) == ("a: b", "it's: `x` # [y", {"empty": ""})


def test_yaml_surprises_stay_text():
    lines = [
        "type: user",
        "name: 1.10",
        "on: yes",
        "when: 2026-01-02",
        "n: 0x1F",
        "t: 12:30",
        "b: true",
        "z: ~",
    ]

    found = parse_document(header(*lines))

    assert found is not None
    assert found.name == "1.10"
    assert found.extra == {"on": "yes", "when": "2026-01-02", "n": "0x1F", "t": "12:30", "b": True, "z": None}


@pytest.mark.parametrize(
    "line",
    [
        "a: &x [1]\nb: *x",
        "a: " + "[" * 300,
        "a: !!python/object:os.system x",
        "a: !!int 3",
        "? [k]\n: v",
        "a: \x07",
    ],
)
def test_yaml_that_could_hurt_is_not_followed(line):
    found = parse_document(header("type: user", "name: Tea", line))

    assert found is not None
    assert found.name == "Tea"


def test_a_name_that_is_true_is_a_word_and_no_scalar_falls_back_to_the_type():
    found = [parse_document(header("type: user", line)) for line in ("name: true", "name: [a]")]

    assert [document and document.name for document in found] == ["true", "user"]


def test_bytes_that_are_not_utf8_do_not_hide_a_memory():
    found = parse_document(HEAD.encode() + b"\xff")

    assert found is not None
    assert found.body == "\nbody\n\ufffd"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_setting_a_field_leaves_every_other_byte(end):
    before = (
        "\ufeff---\n# mine\ntype: user\nname: >-\n  Tea\n  time\nodd : 1\nkeywords:\n- a\n- b\nlast: x\n---\n"
        "a\u2028b\n```\n---\n```\nno end"
    ).replace("\n", end)

    after = set_document_fields(
        before.encode(), {"name": "Tea", "keywords": "c: d", "modified": "2026-01-02"}
    )

    wanted = before.replace(f">-{end}  Tea{end}  time", "Tea").replace(f"{end}- a{end}- b", ' "c: d"')
    assert after.decode() == wanted.replace(f"last: x{end}", f"last: x{end}modified: 2026-01-02{end}")


@pytest.mark.parametrize("data", [b"no header", b"---\ntype: user\n---\n\xff"])
def test_setting_a_field_of_what_can_not_be_edited_changes_nothing(data):
    assert set_document_fields(data, {"name": "x"}) == data
