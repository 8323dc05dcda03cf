"""Answers about the service itself: what it can do, that it is up, what its interface is like."""

from typing import Any, Literal

from pydantic import RootModel

from core.acp import ContextMode
from web.answers.shown import Absent, Shown, Text


class ProtocolVersions(Shown):
    """Versions of the contract that are spoken."""

    current: Literal["v1"] = "v1"
    supported: tuple[str, ...] = ("v1",)


class FeatureDetails(Shown):
    """More on one feature."""

    modes: list[ContextMode]


class ServedWorkspace(Shown):
    """A folder that is served.

    Attributes:
        cwd: its canonical path on the service's machine.
        primary: whether ``/workspace/…`` means it.
    """

    id: str
    cwd: Text
    primary: bool
    trusted: bool


class Limits(Shown):
    """How much is taken."""

    content_bytes: int
    body_bytes: int
    pending_tasks: int


class Capabilities(Shown):
    """What the service can do.

    Attributes:
        models: that the live workers use; missing while that can't be told.
    """

    v: Literal[1] = 1
    protocol_versions: ProtocolVersions = ProtocolVersions()
    mode: Literal["http-bridge"] = "http-bridge"
    features: list[str]
    feature_details: dict[str, FeatureDetails]
    workspace_cwd: Text
    transports: list[str]
    workspaces: list[ServedWorkspace]
    limits: Limits
    models: list[str] | Absent = None


class Health(Shown):
    """The probes' yes."""

    status: Literal["ok"] = "ok"


class InterfaceDocument(RootModel[dict[str, Any]]):
    """A description of the interface, for programs."""
