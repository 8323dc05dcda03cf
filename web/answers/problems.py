"""Answers that refuse."""

from typing import Literal

from web.answers.shown import Absent, Shown, Text


class ShownProblem(Shown):
    """Why a request was refused, in the contract's words.

    Attributes:
        error: for people.
        code: for programs: stable.
        session_id: the session that is not there, or whose client somebody is not.
        client_id: the id that is not known here.
        workspace_count: how many workspaces are served.
        bound_workspace, requested_workspace: folder of the primary workspace; the one that is not served.
        limit: how many streams a session may have.
        member, reason: what is wrong with which member of an archive.
        documents: that are not as the request takes them to be.
    """

    error: Text
    code: str
    session_id: Text | Absent = None
    client_id: str | Absent = None
    workspace_count: int | Absent = None
    bound_workspace: str | Absent = None
    requested_workspace: Text | Absent = None
    limit: int | Absent = None
    member: Text | Absent = None
    reason: str | Absent = None
    documents: list[Text] | Absent = None


class ProblemDetails(ShownProblem):
    """Why a request was refused, as RFC 9457 has it beside the contract's words.

    Attributes:
        type: says nothing beyond the status.
        title: the status in words.
        detail: the same as ``error``.
        instance: path of the request.
    """

    type: Literal["about:blank"] = "about:blank"
    title: str
    status: int
    detail: Text
    instance: Text
