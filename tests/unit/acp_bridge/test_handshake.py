import pytest

from acp_bridge.errors import AgentProtocolError
from acp_bridge.handshake import initialize_params, read_handshake


def test_the_reference_child_is_foreign():
    # the shape that `qwen --acp` 0.24.4 answers with
    result = {
        "protocolVersion": 1,
        "agentInfo": {"name": "qwen-code", "title": "Qwen Code", "version": "0.24.4"},
        "authMethods": [{"id": "openai", "name": "Use OpenAI API key"}],
        "agentCapabilities": {"loadSession": True, "_meta": {"imageCapability": {"maxBytes": 10}}},
    }

    assert not read_handshake(result).speaks_memlane


def test_a_child_that_advertises_memlane_is_ours():
    result = {"protocolVersion": 1, "agentCapabilities": {"_meta": {"memlane": {"v": 1}}}}

    assert read_handshake(result).speaks_memlane


def test_a_child_without_capabilities_is_foreign():
    assert not read_handshake({"protocolVersion": 1}).speaks_memlane


@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        {},
        {"protocolVersion": "1"},
        {"protocolVersion": 2},
        {"protocolVersion": 1, "agentCapabilities": []},
    ],
)
def test_an_unusable_answer_is_a_protocol_error(result):
    with pytest.raises(AgentProtocolError):
        read_handshake(result)


def test_the_greeting_offers_no_files():
    params = initialize_params()

    assert params["protocolVersion"] == 1
    assert params["clientCapabilities"] == {"fs": {"readTextFile": False, "writeTextFile": False}}
    assert params["clientInfo"]["name"] == "memlane"
    assert params["clientInfo"]["version"]
