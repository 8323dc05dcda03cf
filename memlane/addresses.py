"""Where the service is, and the paths of its routes."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import quote, urlencode

import httpx2

from core.errors import ConfigError
from core.ids import Kind
from core.text import well_formed
from memlane.models import Document

_KINDS_WITH_A_PATH: frozenset[Kind] = frozenset({"remember", "forget", "dream"})


def service_url(text: str) -> httpx2.URL:
    """Read the address of a service.

    Raises:
        ConfigError: it is no HTTP URL.
    """
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL:
        raise ConfigError(f"{text!r} is not a URL") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigError(f"{text!r} is not an http:// or https:// URL")
    return url


def is_loopback(host: str) -> bool:
    """Whether a host of a URL is this machine, where proxies of the environment have no business."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def base_of(workspace: str | None) -> str:
    """Start of a workspace's paths; None means the primary one."""
    return "/workspace" if workspace is None else f"/workspaces/{segment(workspace)}"


def memory_path(workspace: str | None, /, *names: str, **query: str | int | None) -> str:
    """A path below a workspace's memory; what is None in the query is left out."""
    path = "/".join([f"{base_of(workspace)}/memory", *names])
    return with_query(path, **query)


def task_path(task_id: str, workspace: str | None) -> str:
    """Where a task is looked up."""
    kind = task_id.partition("-")[0]
    place = kind if kind in _KINDS_WITH_A_PATH else "tasks"
    return memory_path(workspace, place, segment(task_id))


def document_path(document: Document, workspace: str | None) -> str:
    """Where a document is read."""
    names = map(segment, [document.scope, *document.path.split("/")])
    return memory_path(workspace, "documents", *names)


def with_query(path: str, /, **query: str | int | None) -> str:
    """Add a query, without what is None; a file name's bytes that are no UTF-8 travel as they are."""
    sent = {name: str(value) for name, value in query.items() if value is not None}
    return f"{path}?{_encoded(sent)}" if sent else path


def continued(path: str, following: Mapping[str, str]) -> str:
    """The next page of a listing.

    Args:
        path: of the first page, with a query.
        following: what is said beyond that.
    """
    return f"{path}&{_encoded(following)}"


def segment(text: str) -> str:
    """One segment of a path; a file name's bytes that are no UTF-8 travel as they are."""
    try:
        return quote(text, safe="", errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(well_formed(text), safe="")


def _encoded(query: Mapping[str, str]) -> str:
    try:
        return urlencode(query, errors="surrogateescape")
    except UnicodeEncodeError:
        return urlencode({name: well_formed(value) for name, value in query.items()})
