"""What is configured of one channel, once it has been read; see ``channels.config_reading``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import SecretStr

SenderPolicy = Literal["allowlist", "pairing", "open"]
GroupPolicy = Literal["disabled", "allowlist", "open"]
SessionScope = Literal["user", "thread", "single"]
DispatchMode = Literal["collect", "steer", "followup"]
Permissions = Literal["deny", "ask"]
MemoryMode = Literal["metadata-only"]

METADATA_ONLY: MemoryMode = "metadata-only"
DEFAULT_DISPATCH: DispatchMode = "steer"
ANY_GROUP = "*"


@dataclass(frozen=True, slots=True)
class ChannelIdentityConfig:
    """Who the agent is in this channel, as far as it was said."""

    id: str | None = None
    display_name: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class ChannelMemoryScopeConfig:
    """What memory the channel is labelled with, as far as it was said."""

    namespace: str | None = None
    mode: MemoryMode | None = None


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """What holds in one group, or in all that are not named.

    Attributes:
        dispatch_mode: None means the channel's, also when ``*`` has one.
        history_limit: messages that are remembered, 0 for none; None means that of ``*``, else the channel's.
    """

    require_mention: bool = True
    dispatch_mode: DispatchMode | None = None
    history_limit: int | None = None


@dataclass(frozen=True, slots=True)
class BlockStreaming:
    """How an answer is sent in blocks while it is still being written.

    Attributes:
        min_characters, max_characters: size of a block, 1 <= min <= max.
        idle_ms: pause after which what there is is sent, milliseconds; 0 means never.
    """

    min_characters: int = 400
    max_characters: int = 1000
    idle_ms: int = 1500


@dataclass(frozen=True, slots=True)
class ChannelConfig:
    """One channel.

    Attributes:
        name: its key in the configuration.
        type: which adapter serves it.
        token, client_secret: empty or None when there is none.
        cwd: absolute path of the directory that its agent works in.
        approval_mode, model: passed on to the agent; None means its own.
        instructions: told to the agent at the start of each session.
        identity, memory_scope: None when nothing of it was configured.
        groups: by chat id, ``*`` for all others.
        dispatch_mode: what becomes of a message while a turn runs; None means steer.
        block_streaming: None when answers are sent whole.
        group_history_limit: messages of a group that are remembered until it mentions the agent, 0 for none.
        permissions: what becomes of the agent's requests to use a tool; ``ask`` puts them to the chat.
        extra: what else was configured, for the adapter; not shown, it may hold secrets.
    """

    name: str
    type: str
    cwd: str
    token: SecretStr = field(default_factory=lambda: SecretStr(""))
    client_id: str | None = None
    client_secret: SecretStr | None = None
    sender_policy: SenderPolicy = "allowlist"
    allowed_users: tuple[str, ...] = ()
    session_scope: SessionScope = "user"
    approval_mode: str | None = None
    instructions: str | None = None
    model: str | None = None
    identity: ChannelIdentityConfig | None = None
    memory_scope: ChannelMemoryScopeConfig | None = None
    group_policy: GroupPolicy = "disabled"
    groups: Mapping[str, GroupConfig] = field(default_factory=dict)
    dispatch_mode: DispatchMode | None = None
    block_streaming: BlockStreaming | None = None
    group_history_limit: int = 0
    permissions: Permissions = "deny"
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_labelled(self) -> bool:
        """Whether identity or memory scope was configured: then both are told to the agent and to people."""
        return self.identity is not None or self.memory_scope is not None

    def group(self, chat_id: str) -> GroupConfig:
        """What holds in a group: its own entry whole, else that of ``*``, else the defaults."""
        return self.groups.get(chat_id) or self.groups.get(ANY_GROUP) or GroupConfig()

    def dispatch_mode_in(self, chat_id: str, *, is_group: bool) -> DispatchMode:
        """What becomes of a message to a busy session of this chat."""
        of_group = self.group(chat_id).dispatch_mode if is_group else None
        return of_group or self.dispatch_mode or DEFAULT_DISPATCH

    def history_limit_in(self, chat_id: str) -> int:
        """How many messages of a group are remembered: its own, else that of ``*``, else the channel's."""
        entries = (self.groups.get(chat_id), self.groups.get(ANY_GROUP))
        limits = (entry.history_limit for entry in entries if entry is not None)
        return next((limit for limit in limits if limit is not None), self.group_history_limit)

    def is_shared(self, *, is_group: bool) -> bool:
        """Whether a session that serves such a message is one that several people use."""
        return self.session_scope == "single" or (self.session_scope == "thread" and is_group)

    def may_act_on_shared(self, sender_id: str) -> bool:
        """Whether a sender may act on what several people use: everybody, unless some are listed."""
        return not self.allowed_users or sender_id in self.allowed_users
