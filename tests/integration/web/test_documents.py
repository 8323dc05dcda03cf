"""Reading a workspace's memory over HTTP."""

from pathlib import Path
from urllib.parse import quote

import pytest

from core.workspaces import Workspaces
from memory.document import render_document
from memory.library import Library
from memory.paths import Roots
from tests.support.web_server import AUTHORIZED, WebServer, running_web

DOCUMENTS = "/workspace/memory/documents"


def put(root: Path, path: str, name: str = "Tea", **extra: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(
        render_document(type="user", name=name, description="What to drink", body="\nTea.\n", extra=extra)
    )
    return file


def test_documents_are_listed_by_scope_and_path(web: WebServer, memory: Roots) -> None:
    put(memory.user, "user/tea.md", created="2026-01-01T00:00:00Z", source="task=x")
    put(memory.user, "pinned/rule.md", "Rule")
    put(memory.project, "project/ci.md", "CI")
    (memory.user / "note.md").write_text("no memory")
    (memory.user / "link.md").symlink_to(memory.user / "note.md")

    answer = web.request("GET", DOCUMENTS)

    assert answer.status == 200
    listed = answer.json["documents"]
    assert [(one["scope"], one["path"], one["pinned"]) for one in listed] == [
        ("project", "project/ci.md", False),
        ("user", "pinned/rule.md", True),
        ("user", "user/tea.md", False),
    ]
    assert {"name": "Tea", "type": "user", "created": "2026-01-01T00:00:00Z"}.items() <= listed[2].items()
    assert "content" not in listed[2]
    assert answer.json["leftOut"] == [{"cause": "link", "path": "link.md"}]


def test_names_and_fields_that_are_no_unicode_are_shown_all_the_same(web: WebServer, memory: Roots) -> None:
    odd = put(memory.user, "user/tea.md", created="x")
    odd.write_bytes(odd.read_bytes().replace(b"created: x", b'created: "x \\ud800"'))
    (memory.user / "user" / "t\udcff.md").write_bytes(odd.read_bytes())

    listed = [web.request("GET", f"{DOCUMENTS}?limit={limit}") for limit in (1, 10)]
    found = web.request("GET", "/workspace/memory/search?q=tea")

    assert [answer.status for answer in (*listed, found)] == [200] * 3
    assert [one["created"] for one in listed[1].json["documents"]] == ["x \ufffd"] * 2
    assert listed[0].json["nextCursor"] == "user:user/t\ufffd.md" or listed[0].headers["link"]


def test_a_list_comes_in_pages_that_can_be_followed(web: WebServer, memory: Roots) -> None:
    for number in range(3):
        put(memory.user, f"user/{number}.md")
    put(memory.project, "project/ci.md")

    first = web.request("GET", f"{DOCUMENTS}?limit=2&scope=user")
    link = first.headers["link"].removeprefix("<").partition(">")[0]
    second = web.request("GET", link)

    assert [one["path"] for one in first.json["documents"]] == ["user/0.md", "user/1.md"]
    assert [one["path"] for one in second.json["documents"]] == ["user/2.md"]
    assert (second.json["nextCursor"], "link" in second.headers) == (None, False)


@pytest.mark.parametrize("name", ["tea.md", "tëa 茶%.md"])
def test_a_document_is_shown_with_its_text_and_can_be_revalidated(
    web: WebServer, memory: Roots, name: str
) -> None:
    file = put(memory.user, f"user/{name}")
    path = f"{DOCUMENTS}/user/user/{quote(name)}"

    answer = web.request("GET", path)

    assert answer.json["content"] == file.read_text()
    again = web.request("GET", path, headers={**AUTHORIZED, "If-None-Match": answer.headers["etag"]})
    assert (again.status, again.raw) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "user/user/none.md",
        "user/MEMORY.md",
        "user/note.md",
        "user/link.md",
        "user/..%2F..%2Fsecret.md",
        "user/../secret.md",
        "user/%00.md",
        "user/%2Fetc%2Fpasswd",
        "user/" + "x" * 300 + ".md",
        "project/user/tea.md",
    ],
)
def test_what_is_no_document_of_this_memory_is_not_found(web: WebServer, memory: Roots, path: str) -> None:
    put(memory.user, "user/tea.md")
    put(web.memory, "secret.md")
    (memory.user / "note.md").write_text("no memory")
    (memory.user / "link.md").unlink(missing_ok=True)
    (memory.user / "link.md").symlink_to(web.memory / "secret.md")

    answer = web.request("GET", f"{DOCUMENTS}/{path}")

    assert (answer.status, answer.json["code"]) == (404, "document_not_found")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("?limit=0", "invalid_request"),
        ("?limit=1001", "invalid_request"),
        ("?limit=99999999999999999999", "invalid_request"),
        ("?limit=x", "invalid_request"),
        ("?scope=team", "invalid_scope"),
        ("/srv/x.md", "invalid_scope"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused(web: WebServer, query: str, code: str) -> None:
    answer = web.request("GET", f"{DOCUMENTS}{query}")

    assert (answer.status, answer.json["code"]) == (400, code)


def test_a_search_finds_words_in_any_script(web: WebServer, memory: Roots) -> None:
    put(memory.user, "user/tea.md", "Green tea")
    put(memory.project, "project/cha.md", "\u7eff\u8336")

    found = {
        query: web.request("GET", f"/workspace/memory/search?q={quote(query)}").json["hits"]
        for query in ("green TEA", "\u8336", "coffee")
    }

    assert [hit["path"] for hit in found["green TEA"]][:1] == ["user/tea.md"]
    assert [(hit["scope"], hit["path"], hit["title"]) for hit in found["\u8336"]] == [
        ("project", "project/cha.md", "\u7eff\u8336")
    ]
    assert found["coffee"] == []


def test_a_search_keeps_to_its_scope(web: WebServer, memory: Roots) -> None:
    put(memory.user, "user/tea.md")
    put(memory.project, "project/tea.md")

    answer = web.request("GET", "/workspace/memory/search?q=tea&scope=user&limit=5")

    assert [hit["path"] for hit in answer.json["hits"]] == ["user/tea.md"]


@pytest.mark.parametrize("query", ["", "q=", "q=%20", f"q={'x' * 1001}", "q=x&limit=101", "q=x&scope=all"])
def test_a_search_for_nothing_sensible_is_refused(web: WebServer, query: str) -> None:
    assert web.request("GET", f"/workspace/memory/search?{query}").status == 400


def test_an_index_is_shown_as_it_lies_there(web: WebServer, memory: Roots) -> None:
    (memory.user / "MEMORY.md").write_text("- [Tea](user/tea.md)")

    shown = [web.request("GET", f"/workspace/memory/index/{scope}").json for scope in ("user", "project")]

    assert [one["content"] for one in shown] == ["- [Tea](user/tea.md)", ""]


def test_another_workspace_has_a_project_memory_of_its_own(
    web: WebServer, memory: Roots, workspaces: Workspaces
) -> None:
    put(memory.project, "project/ci.md")
    second = list(workspaces)[1]

    answer = web.request("GET", f"/workspaces/{second.id}/memory/documents")

    assert answer.json["documents"] == []


def test_a_memory_base_that_is_gone_is_told(redis_url: str, tmp_path: Path) -> None:
    with running_web(redis_url, [tmp_path], folder=tmp_path) as web:
        web.memory.rmdir()

        answer = web.request("GET", DOCUMENTS)

    assert (answer.status, answer.json["code"]) == (503, "store_unusable")
    assert "retry-after" in answer.headers


def test_looking_makes_nothing(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()

    listing = Library(base, local=False).documents("/srv/ws")

    assert (listing.documents, list(base.iterdir())) == ((), [])
