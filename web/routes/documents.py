"""What a workspace's memory holds: its documents, its indexes, and what a search finds in it."""

from typing import Any, Final
from urllib.parse import unquote, urlencode

from flask import Flask, request
from werkzeug.wrappers import Response

from core.text import well_formed
from core.workspaces import Workspaces
from memory.library import Library, ListedDocument, Listing
from web.door import TARGET
from web.errors import DocumentNotFound
from web.memory_view import describe_document, describe_hit, describe_left_out, describe_listed
from web.offload import offload
from web.problems import json_response, revalidated
from web.query import choice_in, limit_in, scope_of, scopes_in, text_in
from web.selector import rules_for, select

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

    def register(self, app: Flask) -> None:
        """Add the routes, each for the primary and for a named workspace."""
        for rule in rules_for("/memory/documents"):
            app.add_url_rule(rule, view_func=self.list_documents, methods=["GET"])
            app.add_url_rule(f"{rule}/<scope>/<path:path>", view_func=self.show_document, methods=["GET"])
        for rule in rules_for("/memory/index/<scope>"):
            app.add_url_rule(rule, view_func=self.show_index, methods=["GET"])

        for rule in rules_for("/memory/search"):
            app.add_url_rule(rule, view_func=self.search_documents, methods=["GET"])

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
    if len(left) == len(page):
        return json_response(body)
    body["nextCursor"] = _place(page[-1])
    query = urlencode({**request.args.to_dict(), "limit": limit, "cursor": body["nextCursor"]})
    return json_response(body, headers={"Link": f'<{request.environ[TARGET].path}?{query}>; rel="next"'})


def _place(known: ListedDocument) -> str:
    """What a listing is sorted by, as a cursor can hold it."""
    return well_formed(f"{known.file.scope}:{known.file.path}")
