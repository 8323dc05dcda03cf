"""A token that is given out, used within its bounds, and taken back, while the service runs."""

from pathlib import Path

import httpx2
import pytest
from httpx2.websockets import WebSocketDisconnect

from core.ids import workspace_id
from memlane.client import Client
from memlane.errors import Forbidden, Unauthorized
from memlane.token_file import TokenFile
from tests.support.command_line import run


def test_a_token_is_good_for_what_it_was_given_for_until_it_is_revoked(
    start,
    tmp_path: Path,
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    other = tmp_path / "other"
    other.mkdir()
    service = start("--workspace", str(other))
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path / "home"))
    assert run("token", "new", "ci", "--role", "client", "--workspace", str(other)) == 0
    token = capsys.readouterr().out.strip()

    with Client(service.url, token) as client, Client(service.url, service.token) as owner:
        done = client.wait(client.remember("The test box is called egret.", workspace=str(other)), 30)
        assert [one.cwd for one in client.workspaces()] == [str(other)]
        with pytest.raises(Forbidden):
            client.remember("The test box is called crane.")
        with pytest.raises(Forbidden):
            client.operators.lanes()
        refused = [(one.token, one.action) for one in owner.operators.audit("refused")]

        assert run("token", "revoke", "ci") == 0
        with pytest.raises(Unauthorized):
            client.workspaces()

    assert done.status == "completed"
    assert done.workspace_id == workspace_id(str(other))
    assert refused == [("ci", "list_lanes"), ("ci", "remember")]
    assert token not in TokenFile(tmp_path / "home" / "tokens.json").path.read_text()


def test_a_revoked_token_ends_its_sockets(
    start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    service = start()
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path / "home"))
    assert run("token", "new", "ci", "--role", "client") == 0
    headers = {"Authorization": f"Bearer {capsys.readouterr().out.strip()}"}

    with (
        httpx2.Client(headers=headers) as client,
        client.websocket(f"{service.url}/workspace/events/ws") as events,
        Client(service.url, service.token) as owner,
    ):
        assert run("token", "revoke", "ci") == 0
        owner.remember("The test box is called egret.")
        with pytest.raises(WebSocketDisconnect) as ended:
            events.receive_text()

    assert ended.value.code == 1008
