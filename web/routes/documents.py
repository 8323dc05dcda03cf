"""What a workspace's memory holds: its documents, its indexes, and what a search finds in it."""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote

from flask import request
from werkzeug.wrappers import Response

from core.text import well_formed
from core.workspaces import Workspaces
from memory.library import Library, ListedDocument, Listing
from web.errors import DocumentNotFound
from web.memory_view import describe_document, describe_hit, describe_left_out, describe_listed
from web.offload import offload
from web.paging import link_to_next
from web.problems import json_response, revalidated
from web.query import choice_in, limit_in, scope_of, scopes_in, text_in
from web.route import Route
from web.selector import select

DEFAULT_PAGE = 200
MAX_PAGE = 1_000
DEFAULT_HITS = 20
MAX_HITS = 100
_REVIEWS: Final = ("any", "waiting")


class DocumentRoutes:
    """``…/memory/documents``, ``…/memory/index`` and ``…/memory/search``."""

    def __init__(self, library: Library, workspaces: Workspaces) -> None:
        self._library = library
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare the routes."""
        path = "/memory/documents"
        one = f"{path}/<scope>/<path:path>"
        yield Route(name="list_documents", method="GET", path=path, view=self.list_documents)
        yield Route(name="show_document", method="GET", path=one, view=self.show_document)
        yield Route(name="show_index", method="GET", path="/memory/index/<scope>", view=self.show_index)
        yield Route(name="search_memory", method="GET", path="/memory/search", view=self.search_documents)

    def list_documents(self, selector: str | None = None) -> Response:
        """List documents by scope and path, a page at a time; ``review=waiting`` those that wait for one."""
        workspace = select(self._workspaces, selector)
        scopes = scopes_in(request.args)
        limit = limit_in(request.args, default=DEFAULT_PAGE, most=MAX_PAGE)
        waiting = choice_in(request.args, "review", _REVIEWS, default="any") == "waiting"
        listing = offload(lambda: self._library.documents(workspace.path, scopes, only_waiting=waiting))
        return _page(listing, limit=limit, after=request.args.get("cursor", ""))

    def show_document(self, scope: str, path: str, selector: str | None = None) -> Response:
        """Show one document, its text included."""
        workspace = select(self._workspaces, selector)
        chosen, decoded = scope_of(scope), unquote(path, errors="surrogateescape")
        known = offload(lambda: self._library.read(workspace.path, chosen, decoded))
        if known is None:
            raise DocumentNotFound
        return revalidated(describe_document(known))

    def show_index(self, scope: str, selector: str | None = None) -> Response:
        """Show the index of one scope."""
        workspace = select(self._workspaces, selector)
        chosen = scope_of(scope)
        text = offload(lambda: self._library.index(workspace.path, chosen))
        return revalidated({"scope": chosen, "content": text})

    def search_documents(self, selector: str | None = None) -> Response:
        """Find documents that hold words of ``q``, best first."""
        workspace = select(self._workspaces, selector)
        query, scopes = text_in(request.args, "q"), scopes_in(request.args)
        limit = limit_in(request.args, default=DEFAULT_HITS, most=MAX_HITS)
        hits = offload(lambda: self._library.search(workspace.path, query, scopes=scopes, limit=limit))
        return json_response({"hits": [describe_hit(hit) for hit in hits]})


def _page(listing: Listing, *, limit: int, after: str) -> Response:
    left = sorted((one for one in listing.documents if _place(one) > after), key=_place)
    page = left[:limit]
    body: dict[str, Any] = {
        "documents": [describe_listed(one) for one in page],
        "leftOut": [describe_left_out(one) for one in listing.left_out],
        "nextCursor": None,
    }
    if len(left) > len(page):
        body["nextCursor"] = _place(page[-1])
    return json_response(body, headers=link_to_next(limit=limit, cursor=body["nextCursor"]))


def _place(known: ListedDocument) -> str:
    """What a listing is sorted by, as a cursor can hold it."""
    return well_formed(f"{known.file.scope}:{known.file.path}")
