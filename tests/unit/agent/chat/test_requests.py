from pathlib import Path
from typing import Any

import pytest

from agent.chat import requests
from agent.requests import CallRefused


def refusal(parse: Any, params: dict[str, Any], **named: Any) -> str:
    with pytest.raises(CallRefused) as refused:
        parse(params, **named)
    assert refused.value.error_code == -32602
    return str(refused.value).removeprefix("Invalid params: ")


def test_a_session_may_name_the_workspace_by_any_path_that_leads_to_it(tmp_path: Path) -> None:
    workspace = tmp_path.resolve() / "workspace"
    workspace.mkdir()
    link = tmp_path / "link"
    link.symlink_to(workspace)

    for cwd in (str(workspace), f"{workspace}/", str(link)):
        assert requests.parse_cwd({"cwd": cwd}, workspace=str(workspace)) == cwd


@pytest.mark.parametrize("cwd", [None, 5, "", "workspace", "./", "/srv/\0", "/srv/\ud800"])
def test_a_working_directory_that_is_no_absolute_path_is_refused(cwd: Any) -> None:
    assert refusal(requests.parse_cwd, {"cwd": cwd}, workspace="/srv") == "cwd must be an absolute path"


def test_another_working_directory_than_the_workspace_is_refused() -> None:
    reason = refusal(requests.parse_cwd, {"cwd": "/srv/other"}, workspace="/srv/ws")

    assert reason == "cwd is not the workspace that this agent serves"


@pytest.mark.parametrize("servers", [None, {}, "x", [5]])
def test_servers_that_are_no_list_of_objects_are_refused(servers: Any) -> None:
    assert refusal(requests.parse_servers, {"mcpServers": servers}) == "Invalid or missing mcpServers"


def test_sessions_of_another_folder_are_none_of_ours() -> None:
    assert requests.parse_filter({}, workspace="/srv/ws")
    assert requests.parse_filter({"cwd": "/srv/ws"}, workspace="/srv/ws")
    assert not requests.parse_filter({"cwd": "/srv/other"}, workspace="/srv/ws")
    assert refusal(requests.parse_filter, {"cursor": "x"}, workspace="/srv/ws") == "Invalid cursor"
    assert (
        refusal(requests.parse_filter, {"cwd": "ws"}, workspace="/srv/ws") == "cwd must be an absolute path"
    )


@pytest.mark.parametrize("params", [{}, {"methodId": 5}, {"methodId": "openai"}])
def test_nobody_can_authenticate_where_no_method_is_offered(params: dict[str, Any]) -> None:
    assert "methodId" in refusal(requests.refuse_authentication, params)
