"""How chat updates are read and prompts are rendered."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_bridge.chat import wire
from core.chat import PromptImage
from core.jsonrpc import ErrorResponse

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def image(size):
    return PromptImage("A" * size, "image/png")


def bodies(*names):
    """Objects that may have these fields, with anything in them."""
    return st.dictionaries(st.sampled_from(names), JSON, max_size=len(names))


@settings(max_examples=40)
@given(JSON | bodies("sessionId", "update"), bodies("sessionUpdate", "toolCallId", "title", "content"))
def test_whatever_an_agent_tells_is_read_or_passed_over(params, update):
    wire.read_update(params)
    told = wire.read_update({"sessionId": "s", "update": {"sessionUpdate": "tool_call"} | update})

    assert told is None or len(told.update.merged({}).title) <= wire.MAX_TITLE_CHARACTERS


@settings(max_examples=40)
@given(JSON | bodies("sessionId", "toolCall", "options"))
def test_whatever_an_agent_asks_is_read_or_passed_over(params):
    asked = wire.read_permission(params, {})

    assert asked is None or asked.options


@settings(max_examples=40)
@given(st.lists(JSON | bodies("name", "description")))
def test_commands_are_read_as_far_as_they_are_readable(found):
    named = [one for one in found if isinstance(one, dict) and isinstance(one.get("name"), str)]

    assert len(wire.read_commands(found)) == len(named)


@pytest.mark.parametrize(
    ("sizes", "takes_images", "shown"),
    [
        ([], True, []),
        ([5, 6], True, [5, 6]),
        ([5, 6], False, []),
        ([wire.MAX_IMAGE_CHARACTERS], True, [wire.MAX_IMAGE_CHARACTERS]),
        ([wire.MAX_IMAGE_CHARACTERS + 1, 7], True, [7]),
    ],
)
def test_each_image_is_shown_or_its_absence_told(sizes, takes_images, shown):
    text, *images = wire.prompt_content("look", [image(size) for size in sizes], takes_images=takes_images)

    assert [len(one["data"]) for one in images] == shown
    assert text["text"].startswith("look")
    assert text["text"].count(wire.NOT_SHOWN) == len(sizes) - len(shown)


@pytest.mark.parametrize(
    ("code", "data", "is_lost"),
    [
        (-32002, None, True),
        (-32002, {"sessionId": "s"}, True),
        (-32603, {"details": "Session not found: s"}, True),
        (-32603, {"details": "The model said: Session not found"}, False),
        (-32603, {"details": 3}, False),
        (-32603, None, False),
    ],
)
def test_an_agent_says_in_two_ways_that_a_session_is_lost(code, data, is_lost):
    assert wire.is_session_lost(ErrorResponse(1, code, "Internal error", data)) is is_lost
