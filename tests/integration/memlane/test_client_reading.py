"""What the SDK reads of a service and its memory."""

import pytest

from memlane.errors import Forbidden
from memlane.models import Document
from tests.support.scripted_client import DONE, TASK, client_of
from tests.support.scripted_service import Reply


def listed(*names: str, next_cursor: str | None = None) -> Reply:
    documents = [{"scope": "user", "path": f"user/{name}.md", "name": name} for name in names]
    return Reply(200, {"documents": documents, "leftOut": [], "nextCursor": next_cursor})


def test_documents_are_fetched_page_by_page():
    with client_of(listed("a", "b", next_cursor="user:user/b.md"), listed("c")) as (client, service):
        assert [one.name for one in client.documents(scope="user")] == ["a", "b", "c"]

    assert [seen.path for seen in service.requests] == [
        "/workspace/memory/documents?scope=user&limit=1000",
        "/workspace/memory/documents?scope=user&limit=1000&cursor=user%3Auser%2Fb.md",
    ]


def test_a_page_of_documents_tells_what_could_not_be_shown():
    page = {"documents": [], "leftOut": [{"cause": "link", "path": "user/x.md"}], "nextCursor": None}
    with client_of(Reply(200, page)) as (client, service):
        assert client.document_page(limit=5).left_out[0].cause == "link"

    assert service.requests[0].path == "/workspace/memory/documents?limit=5"


def test_what_waits_for_a_review_is_asked_for():
    with client_of(listed("a")) as (client, service):
        assert [one.path for one in client.waiting(workspace="/srv/w")] == ["user/a.md"]

    path = "/workspaces/%2Fsrv%2Fw/memory/documents?review=waiting&limit=1000"
    assert service.requests[0].path == path


def test_the_index_of_a_scope_is_read():
    with client_of(Reply(200, {"scope": "user", "content": "- [Tea](user/tea.md)"})) as (client, service):
        assert client.index("user").content == "- [Tea](user/tea.md)"

    assert service.requests[0].path == "/workspace/memory/index/user"


def test_a_search_gives_its_hits_best_first():
    hit = {"scope": "user", "path": "user/tea.md", "title": "Tea", "score": 1.5, "snippet": "likes tea"}
    with client_of(Reply(200, {"hits": [hit]})) as (client, service):
        (found,) = client.search("tea & milk", limit=3)

    assert (found.title, found.score, found.path) == ("Tea", 1.5, "user/tea.md")
    assert service.requests[0].path == "/workspace/memory/search?q=tea+%26+milk&limit=3"


def test_half_a_character_in_a_query_is_replaced():
    with client_of(Reply(200, {"hits": []})) as (client, service):
        assert client.search("\ud800") == ()

    assert service.requests[0].path == "/workspace/memory/search?q=%EF%BF%BD&limit=20"


def test_revisions_of_one_document_are_asked_for_by_its_place():
    with client_of(Reply(200, {"revisions": []})) as (client, service):
        client.revision_page(document=Document(scope="user", path="user/t\udcffa.md"), before="r7")

    query = "limit=50&scope=user&path=user%2Ft%FFa.md&before=r7"
    assert service.requests[0].path == f"/workspace/memory/revisions?{query}"


def test_what_the_service_can_do_is_read():
    told = {"v": 1, "features": ["workspace_memory_remember"], "limits": {"pendingTasks": 16}, "models": []}
    with client_of(Reply(200, told)) as (client, _):
        found = client.capabilities()

    assert (found.features, found.limits, found.models) == (
        ("workspace_memory_remember",),
        {"pendingTasks": 16},
        (),
    )


@pytest.mark.parametrize(("status", "ready"), [(200, True), (503, False)])
def test_a_service_says_whether_it_is_ready(status, ready):
    with client_of(Reply(status, {"status": "ok"}), retry_s=5) as (client, service):
        assert client.is_ready() is ready

    assert [seen.path for seen in service.requests] == ["/health/ready"]


def test_a_service_that_does_not_know_the_name_is_not_taken_for_unready():
    with client_of(Reply(403, {"code": "forbidden_host"})) as (client, _), pytest.raises(Forbidden):
        client.is_ready()


def test_tasks_are_fetched_page_by_page():
    pages = [
        {"tasks": [TASK], "nextCursor": "c2"},
        {"tasks": [DONE | {"retryOf": TASK["taskId"]}], "nextCursor": None},
    ]
    with client_of(*(Reply(200, page) for page in pages)) as (client, service):
        found = list(client.tasks(kind="remember", outcome="completed"))

    assert [(one.kind, one.status, one.retry_of) for one in found] == [
        ("remember", "queued", None),
        ("remember", "completed", TASK["taskId"]),
    ]
    path = "/workspace/memory/tasks?outcome=completed&kind=remember&limit=200"
    assert [seen.path for seen in service.requests] == [path, f"{path}&cursor=c2"]


def test_revisions_are_fetched_page_by_page():
    older = {"committedAt": "2026-01-01T00:00:00.000Z", "documents": [], "kind": "dream", "summary": ""}
    pages = [
        {"revisions": [older | {"revision": "r9", "taskId": "dream-2"}], "nextBefore": "r9"},
        {"revisions": [older | {"revision": "r2", "taskId": "dream-1"}], "nextBefore": None},
    ]
    with client_of(*(Reply(200, page) for page in pages)) as (client, service):
        assert [one.revision for one in client.revisions()] == ["r9", "r2"]

    assert [seen.path for seen in service.requests] == [
        "/workspace/memory/revisions?limit=200",
        "/workspace/memory/revisions?limit=200&before=r9",
    ]
