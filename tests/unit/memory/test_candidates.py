import os

import pytest

from memory.candidates import choose_candidates
from memory.scan import ReadDocument
from tests.support.memory import note


def document(path="user/tea.md", body="\nLikes tea.\n", *, scope="user", mtime_ns=0, name="Note"):
    return ReadDocument(scope, path, note(name, body=body), mtime_ns)


def ids(documents, *, query="unrelated", limit=400):
    return [candidate.id for candidate in choose_candidates(documents, query=query, limit=limit)]


def test_a_bullet_is_named_by_its_index_and_a_document_without_bullets_by_its_path():
    assert ids([document("a.md", "- a\n- b\n"), document("b.md")]) == [
        "user:a.md:0",
        "user:a.md:1",
        "user:b.md",
    ]


def test_a_candidate_says_what_its_document_is():
    (found,) = choose_candidates([document("a.md", "- likes tea\n", mtime_ns=7)], query="tea")

    assert (found.scope, found.path, found.type) == ("user", "a.md", "user")
    assert (found.name, found.description, found.mtime_ns) == ("Note", "about Note", 7)
    assert found.entry.text == "likes tea"


@pytest.mark.parametrize(
    "path", ["pinned/a.md", "PINNED/deep/a.md", "memory.md", "a\u200b.md", os.fsdecode(b"caf\xe9.md")]
)
def test_what_no_task_may_write_is_no_candidate(path):
    assert ids([document(path)]) == []


@pytest.mark.parametrize(
    "content",
    [
        b"no header",
        b"---\nname: a\n---\n- a\n",
        b"---\ntype: other\n---\n- a\n",
        note(body="- a\n") + b"\xff",
    ],
    ids=["no header", "no type", "unknown type", "not UTF-8"],
)
def test_what_is_no_memory_is_no_candidate(content):
    assert ids([ReadDocument("user", "a.md", content, 0)]) == []


def test_without_a_match_the_newest_come_first():
    found = ids([document(f"{mtime}.md", mtime_ns=mtime) for mtime in (2, 3, 1)])

    assert found == ["user:3.md", "user:2.md", "user:1.md"]


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ("Likes TEA a lot", "tea  A LOT"),
        ("Caf\u00e9", "cafe\u0301"),
        ("Straße", "STRASSE"),
        ("喜欢喝绿茶", "绿茶"),
        ("- a\n  Why: of the tea", "of the tea"),
    ],
)
def test_what_holds_the_whole_query_comes_before_what_is_newer(body, query):
    documents = [document("new.md", "- other\n", mtime_ns=9), document("old.md", body)]

    assert ids(documents, query=query)[0].startswith("user:old.md")


def test_what_holds_more_words_of_the_query_comes_before_what_is_newer():
    documents = [
        document("new.md", "- other\n", mtime_ns=9),
        document("old.md", "- drinks green tea\n- drinks tea\n"),
    ]

    assert ids(documents, query="that thing about green tea")[:2] == ["user:old.md:0", "user:old.md:1"]


def test_neither_scope_starves_the_other():
    documents = [document(f"{number:03}.md", mtime_ns=1_000 + number) for number in range(300)]
    documents += [document(f"{number:03}.md", scope="project", mtime_ns=number) for number in range(300)]

    found = ids(documents, limit=400)

    assert len(found) == 400
    assert sum(one.startswith("project:") for one in found) == 200
    assert found[0] == "user:299.md"
    assert found[-1] == "project:100.md"


def test_a_scope_gets_what_the_other_does_not_need():
    documents = [document(f"{number}.md") for number in range(30)] + [document("a.md", scope="project")]

    found = ids(documents, limit=20)

    assert len(found) == 20
    assert "project:a.md" in found


def test_an_old_match_is_chosen_before_a_new_document_when_there_are_too_many():
    documents = [document(f"{number}.md", "\nOther.\n", mtime_ns=number) for number in range(1, 50)]

    assert ids([*documents, document("tea.md")], query="likes tea", limit=3)[0] == "user:tea.md"
