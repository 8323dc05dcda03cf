import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document import render_document
from memory.scan import ReadDocument
from memory.search import search
from memory.snippet import MAX_SNIPPET_CHARS

PAST, FUTURE = "2020-01-31", "2999-01-31T12:00:00Z"


def document(path="a.md", body="Likes green tea.", *, name="Note", description="-", mtime_ns=0, **extra):
    scope = extra.pop("scope", "user")
    content = render_document(type="user", name=name, description=description, body=body, extra=extra)
    return ReadDocument(scope, path, content, mtime_ns)


def paths(documents, query, **options):
    return [hit.path for hit in search(documents, query, **options)]


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ("Likes green tea.", "GREEN"),
        ("Caf\u00e9 at noon", "cafe\u0301"),
        ("\uff34\uff45\uff41 at noon", "tea"),
        ("喜欢喝绿茶", "绿茶"),
        ("喜欢喝绿茶", "茶"),
        ("毎朝コーヒーを飲む", "コーヒー"),
        ("커피를 좋아합니다", "커피"),
        ("ชอบดื่มชา", "ชา"),
        ("Über die Straße", "STRASSE"),
        ("deployments on Friday", "deploy"),
        ("a cup of 🍵", "🍵"),
        ("the variable user_name", "user_name"),
    ],
)
def test_a_word_is_found_in_any_language(body, query):
    others = [document(f"{number}.md", "Nothing of it, 没有, 없다") for number in range(3)]

    assert paths([*others, document(body=body)], query) == ["a.md"]


@pytest.mark.parametrize("query", ["coffee", "art", "绿色", "", "  ", "\0"])
def test_what_is_not_there_is_not_found(query):
    assert search([document(body="Start with green 绿茶")], query) == ()


def test_title_counts_more_than_description_and_that_more_than_body():
    documents = [
        document("body.md", "tea coffee milk"),
        document("title.md", "coffee milk water", name="Tea"),
        document("description.md", "coffee milk water", description="tea"),
    ]

    assert paths(documents, "tea") == ["title.md", "description.md", "body.md"]


def test_a_rare_word_counts_more_than_a_common_one():
    documents = [document(f"{number}.md", "tea and more") for number in range(9)]

    assert paths([*documents, document("rare.md", "matcha and more")], "tea matcha")[0] == "rare.md"


def test_a_whole_word_counts_more_than_one_that_only_begins_so():
    documents = [document("begins.md", "deployments happen"), document("whole.md", "deploy happens")]

    assert paths(documents, "deploy") == ["whole.md", "begins.md"]


def test_of_equals_the_newest_comes_first():
    documents = [document("old.md", mtime_ns=1), document("new.md", mtime_ns=2)]

    assert paths(documents, "tea") == ["new.md", "old.md"]


def test_no_more_hits_than_asked_for():
    documents = [document(f"{number}.md") for number in range(5)]

    assert len(paths(documents, "tea", limit=2)) == 2
    assert paths(documents, "tea", limit=0) == []


@pytest.mark.parametrize("expires", [PAST, "2020-01-31T10:00:00+02:00", "2020-01-31T10:00:00"])
def test_what_has_expired_is_not_found(expires):
    documents = [document(expires=expires)]

    assert paths(documents, "tea") == []


@pytest.mark.parametrize("expires", [FUTURE, "2999-01-31", "next week", "", "9999-12-31"])
def test_what_has_not_expired_is_found(expires):
    assert paths([document(expires=expires)], "tea") == ["a.md"]


def test_what_waits_for_a_review_is_never_found():
    quarantined = document().content.replace(b"---\nLikes", b"review: true\n---\nLikes")

    assert search([ReadDocument("user", "a.md", quarantined, 0)], "tea") == ()


@pytest.mark.parametrize("content", [b"Likes tea", b"---\ntype: other\n---\ntea"])
def test_what_is_no_memory_is_not_found(content):
    assert search([ReadDocument("user", "a.md", content, 0)], "tea") == ()


def test_a_hit_says_where_and_shows_the_line_that_fits_best():
    (hit,) = search(
        [document(body="\nAbout drinks.\n\n- Likes green tea.\n- Milk.\n", name="Drinks")], "green tea"
    )

    assert (hit.scope, hit.path, hit.title, hit.snippet) == ("user", "a.md", "Drinks", "- Likes green tea.")
    assert hit.score > 0


def test_a_long_line_is_cut_around_the_word():
    (hit,) = search([document(body="x " * 500 + "tea " + "y " * 500)], "tea")

    assert len(hit.snippet) <= MAX_SNIPPET_CHARS
    assert "tea" in hit.snippet
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")


def test_a_snippet_hides_nothing_and_turns_no_text():
    (hit,) = search([document(body="tea\u202e \x1b[31m\u200bred\u2028end")], "tea")

    assert hit.snippet == "tea [31mred end"


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), max_size=4), st.text(max_size=20)
)
@settings(deadline=None, max_examples=150)
def test_any_text_can_be_searched_for_anything(bodies, query):
    for hit in search([document(body=body) for body in bodies], query):
        assert len(hit.snippet) <= MAX_SNIPPET_CHARS
        assert len(hit.snippet.splitlines()) <= 1
