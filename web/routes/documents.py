"""What a workspace's memory holds: its documents, its indexes, and what a search finds in it."""

from collections.abc import Iterable
from urllib.parse import unquote

from flask import request
from werkzeug.wrappers import Response

from core.text import well_formed
from core.workspaces import Workspaces
from memory.errors import StoreUnusable
from memory.library import Library, ListedDocument, Listing
from web.answers.memory import DocumentPage, SearchHits, ShownDocument, ShownIndex
from web.errors import DocumentNotFound
from web.memory_view import describe_document, describe_hit, describe_left_out, describe_listed
from web.offload import offload
from web.paging import link_to_next
from web.problems import json_response, revalidated
from web.query import DocumentsQuery, SearchQuery, parse_query, scope_of
from web.route import Route
from web.selector import select


class DocumentRoutes:
    """``…/memory/documents``, ``…/memory/index`` and ``…/memory/search``."""

    def __init__(self, library: Library, workspaces: Workspaces) -> None:
        self._library = library
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare the routes."""
        path = "/memory/documents"
        one = f"{path}/<scope>/<document:path>"
        yield Route(
            name="list_documents",
            method="GET",
            path=path,
            view=self.list_documents,
            query=DocumentsQuery,
            answer=DocumentPage,
            sends=("Link",),
            refusals=(StoreUnusable,),
        )
        yield Route(
            name="show_document",
            method="GET",
            path=one,
            view=self.show_document,
            answer=ShownDocument,
            sends=("ETag",),
            refusals=(DocumentNotFound, StoreUnusable),
        )
        yield Route(
            name="show_index",
            method="GET",
            path="/memory/index/<scope>",
            view=self.show_index,
            answer=ShownIndex,
            sends=("ETag",),
            refusals=(StoreUnusable,),
        )
        yield Route(
            name="search_memory",
            method="GET",
            path="/memory/search",
            view=self.search_documents,
            query=SearchQuery,
            answer=SearchHits,
            refusals=(StoreUnusable,),
        )

    def list_documents(self, selector: str | None = None) -> Response:
        """List documents by scope and path, a page at a time; ``review=waiting`` those that wait for one."""
        workspace = select(self._workspaces, selector)
        query = parse_query(DocumentsQuery, request.args)
        waiting = query.review == "waiting"
        listing = offload(lambda: self._library.documents(workspace.path, query.scopes, only_waiting=waiting))
        return _page(listing, limit=query.limit, after=query.cursor)

    def show_document(self, scope: str, path: str, selector: str | None = None) -> Response:
        """Show one document, its text included."""
        workspace = select(self._workspaces, selector)
        chosen, decoded = scope_of(scope), unquote(path, errors="surrogateescape")
        known = offload(lambda: self._library.read(workspace.path, chosen, decoded))
        if known is None:
            raise DocumentNotFound
        return revalidated(describe_document(known).to_wire())

    def show_index(self, scope: str, selector: str | None = None) -> Response:
        """Show the index of one scope."""
        workspace = select(self._workspaces, selector)
        chosen = scope_of(scope)
        text = offload(lambda: self._library.index(workspace.path, chosen))
        return revalidated(ShownIndex(scope=chosen, content=text).to_wire())

    def search_documents(self, selector: str | None = None) -> Response:
        """Find documents that hold words of ``q``, best first."""
        workspace = select(self._workspaces, selector)
        query = parse_query(SearchQuery, request.args)
        search = self._library.search
        hits = offload(lambda: search(workspace.path, query.q, scopes=query.scopes, limit=query.limit))
        return json_response(SearchHits(hits=[describe_hit(hit) for hit in hits]).to_wire())


def _page(listing: Listing, *, limit: int, after: str) -> Response:
    left = sorted((one for one in listing.documents if _place(one) > after), key=_place)
    page = left[:limit]
    cursor = _place(page[-1]) if len(left) > len(page) else None
    shown = DocumentPage(
        documents=[describe_listed(one) for one in page],
        left_out=[describe_left_out(one) for one in listing.left_out],
        next_cursor=cursor,
    )
    return json_response(shown.to_wire(), headers=link_to_next(request, cursor, limit=limit))


def _place(known: ListedDocument) -> str:
    """What a listing is sorted by, as a cursor can hold it."""
    return well_formed(f"{known.file.scope}:{known.file.path}")
