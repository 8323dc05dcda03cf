"""Markdown as Telegram shows it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.adapters.telegram.html import shown_units, to_html


@pytest.mark.parametrize(
    ("markdown", "rendered"),
    [
        ("plain", "plain"),
        ("**bold** and *italic* and ~~gone~~", "<b>bold</b> and <i>italic</i> and <s>gone</s>"),
        ("`a < b`", "<code>a &lt; b</code>"),
        ("1 < 2 && 3 > 2", "1 &lt; 2 &amp;&amp; 3 &gt; 2"),
        ("<b>not ours</b>", "&lt;b&gt;not ours&lt;/b&gt;"),
        ("# Head", "<b>Head</b>"),
        ("## A **bold** head", "<b>A bold head</b>"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("one\ntwo", "one\ntwo"),
        ("- a\n- b", "• a\n• b"),
        ("- a\n  - b\n    - c", "• a\n  • b\n    • c"),
        ("3. a\n4. b", "3. a\n4. b"),
        ("> a\n> b", "<blockquote>a\nb</blockquote>"),
        ("> a\n>> b", "<blockquote>a\n\nb</blockquote>"),
        ("***", "———"),
        ("```python\nx = 1 < 2\n```", '<pre><code class="language-python">x = 1 &lt; 2</code></pre>'),
        ("```\nx\n```", "<pre>x</pre>"),
        ("    x\n", "<pre>x</pre>"),
        ("[a](https://a.example/?b=1&c=2)", '<a href="https://a.example/?b=1&amp;c=2">a</a>'),
        ("[](https://a.example)", '<a href="https://a.example">https://a.example</a>'),
        ("[code](web/app.py)", "code (web/app.py)"),
        ("![alt](https://a.example/b.png)", '<a href="https://a.example/b.png">alt</a>'),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "<pre>a | b\n--+--\n1 | 2</pre>"),
        ("****", "———"),
        ("", ""),
    ],
)
def test_markdown_is_rendered_as_the_html_that_telegram_takes(markdown, rendered):
    assert to_html(markdown) == rendered


def test_a_quotation_mark_in_a_link_does_not_end_its_attribute():
    assert 'href="https://a.example/%22onx"' in to_html('[a](<https://a.example/"onx>)')


def test_a_link_around_styles_is_one_link():
    assert to_html("**[a *b*](https://a.example)**") == '<b><a href="https://a.example">a <i>b</i></a></b>'


def test_a_long_cell_does_not_widen_its_column():
    rendered = to_html(f"| a | b |\n|---|---|\n| {'x' * 90} | 2 |\n| 1 | 2 |")

    assert f"{'x' * 90} | 2" in rendered
    assert f"1{' ' * 29} | 2" in rendered


def test_length_is_counted_as_telegram_does():
    assert shown_units(to_html("**a** < 😀 `b`")) == len("a < ") + 2 + len(" b")


@given(st.text(alphabet='ab *_`~[]()<>&"#-|\n>!:/.1\\', max_size=80))
def test_whatever_is_written_has_a_rendering_without_stray_mark_up(markdown):
    rendered = to_html(markdown)

    opened: list[str] = []
    for piece in rendered.split("<")[1:]:
        tag = piece.partition(">")[0]
        if tag.startswith("/"):
            assert opened.pop() == tag[1:]
        else:
            opened.append(tag.partition(" ")[0])
    assert opened == []
