"""Who the agent is in a channel, and what memory the channel is labelled with: both made once.

Labels only: they change neither which session a message reaches, nor who may talk, nor where anything is
stored.
"""

from channels.config import METADATA_ONLY, ChannelConfig, MemoryMode
from channels.shape import Shape


class ChannelRuntimeIdentity(Shape):
    """The agent's name in the channel.

    Attributes:
        description: None when none was configured.
    """

    id: str
    display_name: str
    description: str | None = None


class ChannelRuntimeMemoryScope(Shape):
    """The label of the channel's memory."""

    namespace: str
    mode: MemoryMode = METADATA_ONLY


def identity_of(config: ChannelConfig) -> ChannelRuntimeIdentity:
    """The identity that is configured, filled up from the channel's name."""
    said = config.identity
    return ChannelRuntimeIdentity(
        id=(said and said.id) or f"channel:{config.name}",
        display_name=(said and said.display_name) or config.name,
        description=said.description if said else None,
    )


def memory_scope_of(config: ChannelConfig) -> ChannelRuntimeMemoryScope:
    """The memory scope that is configured, filled up from the channel's name."""
    said = config.memory_scope
    return ChannelRuntimeMemoryScope(namespace=(said and said.namespace) or f"channel:{config.name}")
