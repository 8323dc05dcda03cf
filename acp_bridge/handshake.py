"""What bridge and child tell each other first."""

from typing import Any

from pydantic import Field, ValidationError

from acp_bridge.errors import AgentProtocolError
from core import acp
from core.version import own_version


class Handshake(acp.Wire):
    """A child's answer to ``initialize``, as far as the bridge uses it."""

    protocol_version: int
    agent_capabilities: dict[str, Any] = Field(default_factory=dict)

    @property
    def speaks_memlane(self) -> bool:
        """Whether the child is one of ours: it takes our ``_meta`` and has our store methods."""
        extensions = self.agent_capabilities.get("_meta")
        return isinstance(extensions, dict) and acp.CAPABILITY_META in extensions

    @property
    def takes_images(self) -> bool:
        """Whether prompts may hold images."""
        prompts = self.agent_capabilities.get("promptCapabilities")
        return isinstance(prompts, dict) and prompts.get("image") is True

    @property
    def loads_sessions(self) -> bool:
        """Whether a session of before can be gone on with."""
        return self.agent_capabilities.get("loadSession") is True


def initialize_params() -> dict[str, Any]:
    """Params of ``initialize``: who we are, and that the child must not expect files from us."""
    return {
        "protocolVersion": acp.PROTOCOL_VERSION,
        "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}},
        "clientInfo": {"name": "memlane", "version": own_version()},
    }


def read_handshake(result: Any) -> Handshake:
    """Check a child's answer to ``initialize``.

    Raises:
        AgentProtocolError: not the shape of an answer, or another protocol version.
    """
    try:
        handshake = Handshake.model_validate(result)
    except ValidationError:
        raise AgentProtocolError("the answer to initialize has the wrong shape") from None
    if handshake.protocol_version != acp.PROTOCOL_VERSION:
        raise AgentProtocolError(f"the agent speaks protocol version {handshake.protocol_version}")
    return handshake
