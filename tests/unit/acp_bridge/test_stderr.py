import json

import pytest

from acp_bridge.stderr import MAX_LINE_CHARS, TAIL_LINES, Record, StderrLines, read_record


def test_a_line_is_returned_once_its_newline_arrives():
    lines = StderrLines()

    assert lines.feed(b"star") == []
    assert lines.feed(b"ted\nnext") == ["started"]
    assert lines.finish() == ["next"]


def test_control_characters_are_stripped_and_tabs_become_spaces():
    assert StderrLines().feed(b"\x1b[31mred\x07\ta\r\n") == ["[31mred a"]


def test_characters_that_could_forge_a_log_line_are_stripped():
    assert StderrLines().feed("a\u2028b\u202ec\x85d\n".encode()) == ["abcd"]


def test_invalid_utf8_is_replaced():
    assert StderrLines().feed(b"a\xffb\n") == ["a\ufffdb"]


def test_blank_lines_are_left_out():
    assert StderrLines().feed(b"\n  \n\x00\n") == []


def test_a_long_line_is_cut_whatever_the_chunks():
    lines = StderrLines()

    for _ in range(100):
        lines.feed(b"x" * 1000)

    assert lines.feed(b"\nshort\n") == ["x" * MAX_LINE_CHARS, "short"]


def test_the_tail_keeps_the_last_lines():
    lines = StderrLines()

    lines.feed(b"".join(b"%d\n" % number for number in range(100)))

    assert lines.tail == tuple(str(number) for number in range(100 - TAIL_LINES, 100))


def test_a_log_record_of_a_child_keeps_its_level_event_and_facts():
    line = (
        '{"reason":"HTTP 429","number":1,"event":"model_try_failed","level":"warning",'
        '"process":"agent","logger":"x","timestamp":"2026","exc_info":true,"Odd Name":1}'
    )

    assert read_record(line) == Record("model_try_failed", "warning", {"reason": "HTTP 429", "number": 1})


@pytest.mark.parametrize("level", ["loud", 3, None, ["error"]])
def test_an_unknown_level_is_info(level):
    assert read_record(json.dumps({"event": "x", "level": level})).level == "info"


@pytest.mark.parametrize(
    "line", ["plain text", "{", "[1]", "{}", '{"event":1}', '{"event":"two words"}', "[" * 100_000]
)
def test_anything_else_is_text(line):
    assert read_record(line) == Record("agent_stderr", "info", {"line": line})
