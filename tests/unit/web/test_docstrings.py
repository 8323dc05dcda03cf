from web.interface.docstrings import docstring_of, parse_docstring

DOC = """What it is.

    More of it.

    Attributes:
        one, two: first
            and on.
        three: third.

    Raises:
        Nothing: never.
    """


def test_a_docstring_is_taken_apart() -> None:
    doc = parse_docstring(DOC)

    assert (doc.summary, doc.text) == ("What it is.", "What it is.\n\nMore of it.")
    assert doc.attributes == {"one": "first and on.", "two": "first and on.", "three": "third."}


def test_what_has_no_docstring_says_nothing() -> None:
    doc = docstring_of(lambda: None)

    assert (doc.summary, doc.text, doc.attributes) == ("", "", {})
