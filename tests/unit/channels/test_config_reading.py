"""Configuration as it is read: design page "Channel layer", 1 and 7."""

import pytest

from channels.config import BlockStreaming, ChannelIdentityConfig, ChannelMemoryScopeConfig, GroupConfig
from channels.config_reading import AdapterType, read_channel, read_channels
from channels.errors import ChannelConfigInvalid

TYPES = (
    AdapterType("chat"),
    AdapterType("telegram", frozenset({"token"}), frozenset({"apiUrl"}), session_scope="thread"),
)


def read(environment=None, **raw):
    document = {"type": "chat"} | raw
    return read_channel("team", document, environment=environment or {}, cwd="/srv/work", types=TYPES)


def config(**raw):
    return read(**raw).config


def warned(**raw):
    return [warning.path for warning in read(**raw).warnings]


def refused(**raw):
    with pytest.raises(ChannelConfigInvalid) as caught:
        read(**raw)
    return str(caught.value)


def test_what_is_not_configured_has_its_default():
    found = config()

    assert (found.name, found.type, found.cwd) == ("team", "chat", "/srv/work")
    assert found.token.get_secret_value() == ""
    assert (found.client_id, found.client_secret) == (None, None)
    assert (found.sender_policy, found.session_scope, found.group_policy) == ("allowlist", "user", "disabled")
    assert (found.allowed_users, found.groups, found.group_history_limit) == ((), {}, 0)
    assert (found.identity, found.memory_scope, found.block_streaming) == (None, None, None)
    assert found.dispatch_mode is None
    assert found.dispatch_mode_in("c", is_group=False) == "steer"


@pytest.mark.parametrize("kind", [None, "", 3, "telegraph"])
def test_a_type_that_is_missing_or_unknown_is_refused_with_those_that_there_are(kind):
    message = refused(type=kind)

    assert message.startswith("channels.team.type: ")
    assert "chat, telegram" in message


@pytest.mark.parametrize("token", [None, ""])
def test_what_an_adapter_needs_has_to_be_there(token):
    assert "channels.team.token" in refused(type="telegram", token=token)


def test_an_adapter_may_have_a_session_scope_of_its_own():
    assert config(type="telegram", token="t").session_scope == "thread"
    assert config(type="telegram", token="t", sessionScope="single").session_scope == "single"


@pytest.mark.parametrize("key", ["token", "clientId", "clientSecret"])
def test_a_secret_may_stand_in_the_environment(key):
    found = read({"NAME": "s3cret"}, **{key: "$NAME"}).config
    value = {"token": found.token, "clientId": found.client_id, "clientSecret": found.client_secret}[key]

    assert getattr(value, "get_secret_value", lambda: value)() == "s3cret"


@pytest.mark.parametrize("environment", [{}, {"NAME": ""}])
def test_a_secret_that_the_environment_lacks_is_refused(environment):
    assert "NAME is not set" in refused(environment=environment, token="$NAME")


def test_two_dollars_begin_a_secret_that_begins_with_one():
    assert config(token="$$NAME").token.get_secret_value() == "$NAME"


@pytest.mark.parametrize("value", [3, True, [], {}])
def test_a_secret_that_is_no_text_is_refused(value):
    assert "channels.team.token" in refused(token=value)


def test_secrets_are_not_shown():
    assert "s3cret" not in repr(config(token="s3cret", clientSecret="s3cret", signingKey="s3cret"))


@pytest.mark.parametrize("token", ["$s3cret-value", "$ s3cret", "$", "$3s3cret"])
def test_a_secret_that_happens_to_begin_with_a_dollar_is_refused_and_not_shown(token):
    message = refused(token=token)

    assert "write $$" in message
    assert "s3cret" not in message


def test_an_unknown_policy_for_senders_is_refused_and_none_is_the_default():
    assert "senderPolicy" in refused(senderPolicy="everybody")
    assert "permissions" in refused(permissions="always")
    for nothing in (None, "", False, 0):
        assert config(senderPolicy=nothing).sender_policy == "allowlist"


def test_an_unknown_policy_for_groups_serves_none_and_warns():
    assert config(groupPolicy="opne").group_policy == "disabled"
    assert warned(groupPolicy="opne") == ["channels.team.groupPolicy"]


def test_an_unknown_session_scope_is_each_user_s_own_and_warns():
    assert config(sessionScope="galaxy").session_scope == "user"
    assert warned(sessionScope="galaxy") == ["channels.team.sessionScope"]


def test_ids_of_users_are_texts_even_when_written_as_numbers():
    assert config(allowedUsers=["a", 7]).allowed_users == ("a", "7")


@pytest.mark.parametrize("value", [None, True, "", {}, [], 1.5])
def test_what_is_no_id_of_a_user_lets_nobody_in_and_warns(value):
    assert config(allowedUsers=["a", value]).allowed_users == ("a",)
    assert warned(allowedUsers=["a", value]) == ["channels.team.allowedUsers.1"]


@pytest.mark.parametrize("value", ["a", 3, {}])
def test_users_that_are_no_list_are_refused(value):
    assert "channels.team.allowedUsers" in refused(allowedUsers=value)


@pytest.mark.parametrize(
    ("written", "path"), [("sub", "/srv/work/sub"), ("/a/b", "/a/b"), ("../x", "/srv/x"), ("", "/srv/work")]
)
def test_the_folder_becomes_absolute(written, path):
    assert config(cwd=written).cwd == path


def test_a_tilde_is_the_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")

    assert config(cwd="~").cwd == "/home/ann"
    assert config(cwd="~/x").cwd == "/home/ann/x"


def test_only_one_s_own_home_is_known_by_a_tilde():
    assert config(cwd="~nobody-of-that-name/x").cwd == "/srv/work/~nobody-of-that-name/x"


def test_a_tilde_without_a_home_is_refused(monkeypatch):
    def homeless(_path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("pathlib.Path.expanduser", homeless)

    assert "channels.team.cwd" in refused(cwd="~/x")


@pytest.mark.parametrize("name", ["", " ", ".", "..", "a\nb", "\ud800", "x" * 129, "é" * 30])
def test_a_channel_s_name_has_to_be_good_for_a_file(name):
    with pytest.raises(ChannelConfigInvalid, match="a name of"):
        read_channel(name, {"type": "chat"}, environment={}, cwd="/srv", types=TYPES)


def test_identity_and_scope_are_taken_as_far_as_they_are_usable():
    found = config(
        identity={"id": "bot", "displayName": "", "description": None, "colour": "red"},
        memoryScope={"namespace": "team"},
    )

    assert found.identity == ChannelIdentityConfig("bot")
    assert found.memory_scope == ChannelMemoryScopeConfig("team")


@pytest.mark.parametrize("value", [[], "bot", 3, {"id": 7}])
def test_an_identity_that_can_t_be_used_is_left_out_and_warns(value):
    assert config(identity=value).identity is None
    assert warned(identity=value)[0].startswith("channels.team.identity")


@pytest.mark.parametrize("value", [None, {}, {"id": None}, {"id": ""}])
def test_an_identity_that_says_nothing_is_none(value):
    assert config(identity=value).identity is None
    assert warned(identity=value) == []


def test_a_memory_mode_that_is_not_known_becomes_the_one_that_is_and_warns():
    assert config(memoryScope={"mode": "shared"}).memory_scope == ChannelMemoryScopeConfig(
        None, "metadata-only"
    )
    assert warned(memoryScope={"mode": "shared"}) == ["channels.team.memoryScope.mode"]


def test_groups_are_read_each_by_itself():
    found = config(groups={"c1": {"requireMention": False, "dispatchMode": "collect"}, 7: {}})

    assert found.groups == {
        "c1": GroupConfig(require_mention=False, dispatch_mode="collect"),
        "7": GroupConfig(),
    }


def test_a_group_of_which_nothing_is_said_has_its_defaults():
    found = read(groups={"c": None, "d": {"requireMention": None}})

    assert found.config.groups == {"c": GroupConfig(), "d": GroupConfig()}
    assert found.warnings == ()


def test_a_mention_is_required_unless_it_is_said_plainly():
    assert config(groups={"c": {"requireMention": "no"}}).group("c").require_mention
    assert warned(groups={"c": {"requireMention": "no"}}) == ["channels.team.groups.c.requireMention"]


@pytest.mark.parametrize(
    "raw", [{"groups": []}, {"groups": {"c": 3}}, {"groups": {"c": {"dispatchMode": "x"}}}]
)
def test_groups_that_can_t_be_read_are_refused(raw):
    assert "channels.team.groups" in refused(**raw)


def test_an_unknown_dispatch_mode_is_refused():
    assert "channels.team.dispatchMode" in refused(dispatchMode="queue")


@pytest.mark.parametrize("value", [None, "off", True, "ON", 1])
def test_only_the_word_on_turns_streaming_on(value):
    assert config(blockStreaming=value).block_streaming is None


def test_streaming_has_its_usual_sizes_and_takes_others():
    assert config(blockStreaming="on").block_streaming == BlockStreaming(400, 1000, 1500)
    found = config(
        blockStreaming="on",
        blockStreamingChunk={"minChars": 10, "maxChars": 20},
        blockStreamingCoalesce={"idleMs": 0},
    )
    assert found.block_streaming == BlockStreaming(10, 20, 0)


@pytest.mark.parametrize("chunk", [{"maxChars": 0}, {"minChars": 0}, {"minChars": 30, "maxChars": 20}])
def test_sizes_that_would_never_end_are_refused(chunk):
    assert "blockStreamingChunk" in refused(blockStreaming="on", blockStreamingChunk=chunk)


@pytest.mark.parametrize("value", [5, [], "20", True])
def test_sizes_that_are_no_object_are_passed_over_and_warn(value):
    raw = {"blockStreaming": "on", "blockStreamingChunk": value, "blockStreamingCoalesce": value}

    assert config(**raw).block_streaming == BlockStreaming()
    assert warned(**raw) == ["channels.team.blockStreamingChunk", "channels.team.blockStreamingCoalesce"]


@pytest.mark.parametrize("value", ["1", True, None, float("nan"), float("inf"), 10**400])
def test_sizes_that_are_no_numbers_are_passed_over_and_warn(value):
    raw = {"blockStreaming": "on", "blockStreamingChunk": {"maxChars": value}}

    assert config(**raw).block_streaming == BlockStreaming()
    assert warned(**raw) == ["channels.team.blockStreamingChunk.maxChars"]


def test_a_pause_below_nothing_turns_the_timer_off_and_warns():
    raw = {"blockStreaming": "on", "blockStreamingCoalesce": {"idleMs": -1}}

    assert config(**raw).block_streaming == BlockStreaming(idle_ms=0)
    assert warned(**raw) == ["channels.team.blockStreamingCoalesce.idleMs"]


@pytest.mark.parametrize(
    ("value", "limit"), [(None, 0), (5, 5), (5.9, 5), (0, 0), (-1, 0), (float("nan"), 0), ("5", 0), (True, 0)]
)
def test_a_history_limit_is_a_number_of_messages_or_none(value, limit):
    assert config(groupHistoryLimit=value).group_history_limit == limit


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 10**400, "5", True])
def test_a_history_limit_that_is_no_such_number_remembers_nothing_and_warns(value):
    found = read(groupHistoryLimit=value, groups={"c": {"groupHistoryLimit": value}})

    assert found.config.history_limit_in("c") == 0
    assert {warning.path for warning in found.warnings} == {
        "channels.team.groupHistoryLimit",
        "channels.team.groups.c.groupHistoryLimit",
    }


def test_a_group_has_its_own_history_limit_else_that_of_all_groups_else_the_channel_s():
    found = config(groupHistoryLimit=9, groups={"a": {"groupHistoryLimit": 0}, "b": {}})
    starred = config(groupHistoryLimit=9, groups={"b": {}, "*": {"groupHistoryLimit": 4}})

    assert [found.history_limit_in(chat) for chat in ("a", "b", "c")] == [0, 9, 9]
    assert [starred.history_limit_in(chat) for chat in ("b", "c")] == [4, 4]


def test_a_listed_group_does_not_have_the_dispatch_mode_of_all_groups():
    found = config(dispatchMode="collect", groups={"a": {}, "*": {"dispatchMode": "followup"}})

    assert found.dispatch_mode_in("a", is_group=True) == "collect"
    assert found.dispatch_mode_in("b", is_group=True) == "followup"
    assert found.dispatch_mode_in("b", is_group=False) == "collect"


def test_what_is_not_known_is_kept_for_the_adapter():
    assert config(apiUrl="http://localhost", colour=1).extra == {"apiUrl": "http://localhost", "colour": 1}


@pytest.mark.parametrize("document", [None, [], {}, {"channels": []}, {"channels": {"a": 3}}])
def test_a_document_without_channels_is_refused(document):
    with pytest.raises(ChannelConfigInvalid):
        read_channels(document, environment={}, cwd="/srv", types=TYPES)


def test_all_channels_of_a_document_are_read():
    document = {"channels": {"a": {"type": "chat"}, "b": {"type": "chat"}}}
    found = read_channels(document, environment={}, cwd="/srv", types=TYPES)

    assert [one.config.name for one in found] == ["a", "b"]
