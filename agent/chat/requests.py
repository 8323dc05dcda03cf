"""Params of ACP's session methods: what is accepted."""

import os
from contextlib import suppress
from typing import Any

from agent.requests import invalid


def parse_cwd(params: dict[str, Any], *, workspace: str) -> str:
    """Read the working directory of a session, which has to be the workspace that is served.

    Args:
        workspace: canonical absolute path.

    Raises:
        CallRefused: it is missing, relative, or another folder.
    """
    cwd = params.get("cwd")
    if _canonical(cwd) != workspace:
        raise invalid("cwd is not the workspace that this agent serves")
    return str(cwd)


def parse_servers(params: dict[str, Any]) -> int:
    """Read how many MCP servers a client offers.

    Raises:
        CallRefused: they are no list of objects.
    """
    servers = params.get("mcpServers")
    if not isinstance(servers, list) or not all(isinstance(server, dict) for server in servers):
        raise invalid("Invalid or missing mcpServers")
    return len(servers)


def parse_session_id(params: dict[str, Any]) -> str:
    """Read which session is meant.

    Raises:
        CallRefused: sessionId is no text.
    """
    session_id = params.get("sessionId")
    if not isinstance(session_id, str):
        raise invalid("Invalid or missing sessionId")
    return session_id


def parse_content(params: dict[str, Any]) -> list[Any]:
    """Read the content blocks of a prompt, each still as it came.

    Raises:
        CallRefused: they are no list.
    """
    content = params.get("prompt")
    if not isinstance(content, list):
        raise invalid("Invalid or missing prompt")
    return content


def parse_filter(params: dict[str, Any], *, workspace: str) -> bool:
    """Read which sessions are to be listed; tells whether the filter leaves those of this workspace.

    Raises:
        CallRefused: cwd is relative, or there is a cursor: all sessions fit on one page, which gives none.
    """
    if params.get("cursor") is not None:
        raise invalid("Invalid cursor")
    cwd = params.get("cwd")
    return cwd is None or _canonical(cwd) == workspace


def refuse_authentication(params: dict[str, Any]) -> dict[str, Any]:
    """Answer ``authenticate``: no method is offered, so none can be used.

    Raises:
        CallRefused: always.
    """
    raise invalid("Unknown methodId" if isinstance(params.get("methodId"), str) else "Invalid methodId")


def _canonical(cwd: Any) -> str:
    if isinstance(cwd, str) and cwd.startswith("/"):
        with suppress(ValueError):  # what no path can hold: NUL, a lone surrogate
            return os.path.realpath(cwd)
    raise invalid("cwd must be an absolute path")
