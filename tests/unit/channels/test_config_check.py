"""Configuration as it is checked: design page "Channel layer", 1 and 7.1."""

import pytest

from channels.adapters.registry import TYPES as REAL_TYPES
from channels.config_check import check_channels
from channels.config_reading import AdapterType

TYPES = (AdapterType("chat"), AdapterType("telegram", frozenset({"token"}), frozenset({"apiUrl"})))


def findings(**raw):
    document = {"channels": {"team": {"type": "chat", "allowedUsers": ["a"]} | raw}}
    found = check_channels(document, environment={}, cwd="/srv", types=TYPES)
    return {one.path.removeprefix("channels.team."): one.severity for one in found}


def test_a_good_configuration_has_no_findings():
    assert findings() == {}
    assert findings(identity={"id": "x"}, memoryScope={"mode": "metadata-only"}, dispatchMode="collect") == {}


@pytest.mark.parametrize(
    ("raw", "path", "severity"),
    [
        ({"identity": []}, "identity", "error"),
        ({"identity": {"id": 3}}, "identity.id", "error"),
        ({"identity": {}}, "identity", "warning"),
        ({"identity": {"id": "x", "colour": 1}}, "identity.colour", "warning"),
        ({"memoryScope": {"mode": "shared"}}, "memoryScope.mode", "error"),
        ({"groupPolicy": "opne"}, "groupPolicy", "error"),
        ({"sessionScope": "galaxy"}, "sessionScope", "error"),
        ({"approvalMode": "never"}, "approvalMode", "error"),
        ({"permissions": "always"}, "permissions", "error"),
        ({"blockStreaming": True}, "blockStreaming", "error"),
        ({"colour": 1}, "colour", "warning"),
        ({"apiUrl": "x"}, "apiUrl", "warning"),
        ({"groups": {"c": {"colour": 1}}, "groupPolicy": "open"}, "groups.c.colour", "warning"),
        ({"groups": {"c": {}}}, "groups", "warning"),
        ({"groups": {"c": {"requireMention": 1}}, "groupPolicy": "open"}, "groups.c.requireMention", "error"),
        ({"allowedUsers": []}, "allowedUsers", "warning"),
        ({"allowedUsers": [7]}, "allowedUsers.0", "error"),
        ({"senderPolicy": "open", "groupPolicy": "open"}, "senderPolicy", "warning"),
        ({"dispatchMode": "queue"}, "dispatchMode", "error"),
        ({"token": "$NAME"}, "token", "error"),
        ({"type": "telegraph"}, "type", "error"),
        ({"groupPolicy": "allowlist"}, "groups", "warning"),
        ({"groupPolicy": "allowlist", "groups": {"*": {}}}, "groups", "warning"),
        ({"groupHistoryLimit": "5"}, "groupHistoryLimit", "error"),
        (
            {"groupPolicy": "open", "groups": {"c": {"groupHistoryLimit": -1}}},
            "groups.c.groupHistoryLimit",
            "error",
        ),
        ({"blockStreamingChunk": {"maxChars": 0}}, "blockStreamingChunk", "error"),
        ({"blockStreamingChunk": 5}, "blockStreamingChunk", "error"),
        ({"blockStreamingChunk": {"least": 5}}, "blockStreamingChunk.least", "warning"),
        ({"blockStreamingCoalesce": {"idleMs": "1s"}}, "blockStreamingCoalesce.idleMs", "error"),
        ({"blockStreamingCoalesce": {"idleS": 1}}, "blockStreamingCoalesce.idleS", "warning"),
        ({"allowedUsers": ["a", None]}, "allowedUsers.1", "error"),
        ({"permissions": "sometimes"}, "permissions", "error"),
        ({"instructions": 3}, "instructions", "error"),
    ],
)
def test_the_check_finds_what_reading_lets_pass(raw, path, severity):
    assert findings(**raw).get(path) == severity


def test_the_check_knows_how_requests_for_permission_are_configured():
    assert findings(permissions="ask") == {}


def test_everything_that_is_refused_is_found_at_once():
    found = findings(
        type="telegram",
        clientId=4,
        cwd=7,
        senderPolicy="everybody",
        allowedUsers="a",
        groupPolicy="open",
        groups={"a.b": {"dispatchMode": "x"}, "a": 3, "c": {"requireMention": 1}},
        blockStreamingChunk={"minChars": 0},
    )

    assert found.keys() == {
        *("token", "clientId", "cwd", "senderPolicy", "allowedUsers", "blockStreamingChunk"),
        *("groups.a.b.dispatchMode", "groups.a", "groups.c.requireMention"),
    }
    assert set(found.values()) == {"error"}


@pytest.mark.parametrize("name", ["a: b", "a.b", "", "..", 7])
def test_a_channel_of_any_name_is_looked_at_to_its_end(name):
    document = {"channels": {name: {"type": "chat", "token": 3, "cwd": 4}, "other": 5}}
    paths = {one.path for one in check_channels(document, environment={}, cwd="/srv", types=TYPES)}

    assert "channels.other" in paths
    assert any(path.startswith(f"channels.{name}") for path in paths)


def test_no_finding_shows_a_secret():
    found = check_channels(
        {"channels": {"team": {"type": "chat", "token": "$s3cret value", "clientSecret": ["s3cret"]}}},
        environment={},
        cwd="/srv",
        types=TYPES,
    )

    assert {one.path for one in found} >= {"channels.team.token", "channels.team.clientSecret"}
    assert "s3cret" not in str(found)


def test_what_an_adapter_declares_is_known_to_the_check():
    assert findings(type="telegram", token="t", apiUrl="http://localhost") == {}


def test_the_check_of_a_document_without_channels_says_so():
    assert [one.path for one in check_channels([], environment={}, cwd="/srv", types=TYPES)] == ["channels"]


@pytest.mark.parametrize(
    ("raw", "paths"),
    [
        (
            {
                "type": "telegram",
                "token": "no",
                "pollTimeout": "long",
                "apiUrl": "here",
                "registerCommands": 1,
            },
            {"token", "pollTimeout", "apiUrl", "registerCommands"},
        ),
        ({"type": "slack", "token": "xoxb-1", "proxy": "socks5://a"}, {"proxy", "appToken"}),
        ({"type": "slack", "token": "xoxb-1", "appToken": 3}, {"appToken"}),
        ({"type": "webhook", "token": "t", "callbackUrl": "localhost:8000"}, {"callbackUrl"}),
        ({"type": "webhook", "token": "t", "callbackUrl": "http://localhost:8000/a"}, set()),
    ],
)
def test_what_only_an_adapter_knows_to_be_wrong_is_found_at_once(raw, paths):
    document = {"channels": {"team": raw | {"senderPolicy": "open"}}}
    found = check_channels(document, environment={}, cwd="/srv", types=REAL_TYPES)

    assert {one.path.removeprefix("channels.team.") for one in found} == paths
    assert {one.severity for one in found} <= {"error"}
    assert all(one.message.endswith(("is needed", "a bot's token", "that Slack posts")) for one in found)
