"""Slack's mark-up: https://docs.slack.dev/messaging/formatting-message-text."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.adapters.slack.mrkdwn import spoken, to_mrkdwn


@pytest.mark.parametrize(
    ("markdown", "mrkdwn"),
    [
        ("**bold** and *italic* and ~~gone~~", "*bold* and _italic_ and ~gone~"),
        ("# Title\n\ntext", "*Title*\n\ntext"),
        ("[tea](https://example.com/a?b=1&c=2)", "<https://example.com/a?b=1&amp;c=2|tea>"),
        ("<https://example.com>", "<https://example.com|https://example.com>"),
        ("[tea](notes/tea.md)", "tea (notes/tea.md)"),
        ("[a|b](https://example.com)", "<https://example.com|a/b>"),
        ("[tea](ftp://example.com)", "tea (ftp://example.com)"),
        ("- one\n- two", "• one\n• two"),
        ("`a < b`", "`a &lt; b`"),
        ("```py\na < b\n```", "```\na &lt; b\n```"),
        ("````\n```\n````", "```\n`\u200b`\u200b`\n```"),
        ("> said\n> so", "> said\n> so"),
        ("a & b <c>", "a &amp; b &lt;c&gt;"),
        ("un**believ**able", "un\u200b*believ*\u200bable"),
        ("这是**重要**的", "这是\u200b*重要*\u200b的"),
        ("(**a**), **b**: ***c***~~d~~", "(*a*), *b*: _*c*_~d~"),
    ],
)
def test_markdown_is_written_as_slack_reads_it(markdown, mrkdwn):
    assert to_mrkdwn(markdown) == mrkdwn


@given(st.text(alphabet="<>!@#|&ab `*_~[]()\n:/-", max_size=60))
def test_nothing_that_is_written_addresses_anybody(markdown):
    rendered = to_mrkdwn(markdown)

    assert re.findall(r"<(?!https?://|mailto:|tel:)", rendered, re.IGNORECASE) == []


@given(st.text(max_size=40))
def test_every_text_becomes_something(text):
    assert to_mrkdwn(text).strip() or not text.strip()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a &lt; b &amp;amp; c", "a < b &amp; c"),
        ("see <https://example.com>", "see https://example.com"),
        ("see <https://example.com|the page>", "see the page (https://example.com)"),
        ("see <http://example.com|example.com>", "see http://example.com"),
        ("write <mailto:a@example.com|a@example.com>", "write a@example.com"),
        ("ask <@U2>", "ask @U2"),
        ("ask <@U2|bea>", "ask @bea"),
        ("in <#C1|general>", "in #general"),
        ("in <#C1>", "in #C1"),
        ("<!here> and <!subteam^S1|@team>", "@here and @team"),
    ],
)
def test_what_people_write_is_read_as_they_see_it(written, read):
    assert spoken(written, bot_id="UBOT") == (read, False)


@given(st.text(max_size=60))
def test_what_people_write_arrives_as_they_wrote_it(text):
    assert spoken(html.escape(text, quote=False), bot_id="UBOT") == (text.strip(), False)
