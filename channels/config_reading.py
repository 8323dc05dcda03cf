"""Reads the configuration of channels: lenient where a mistake does no harm, and then it warns."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from pydantic import SecretStr

from channels.config import (
    METADATA_ONLY,
    BlockStreaming,
    ChannelConfig,
    ChannelIdentityConfig,
    ChannelMemoryScopeConfig,
    DispatchMode,
    GroupConfig,
    GroupPolicy,
    Permissions,
    SenderPolicy,
    SessionScope,
)
from channels.config_values import ChannelReading, ChannelWarning, whole_number
from channels.errors import ChannelConfigInvalid

MAX_NAME_CHARACTERS = 128

KNOWN_KEYS = frozenset(
    {
        *("type", "token", "clientId", "clientSecret", "senderPolicy", "allowedUsers", "sessionScope", "cwd"),
        *("approvalMode", "instructions", "model", "identity", "memoryScope", "groupPolicy", "groups"),
        *("dispatchMode", "blockStreaming", "blockStreamingChunk", "blockStreamingCoalesce"),
        *("groupHistoryLimit", "permissions"),
    }
)


@dataclass(frozen=True, slots=True)
class AdapterType:
    """What reading has to know of an adapter.

    Attributes:
        required: keys without which it can't work.
        extra: further keys that it takes.
        secrets: those of ``extra`` that are secret, and may stand in the environment.
        session_scope: what holds when none is configured.
        examine: raises ``ChannelConfigInvalid`` for what only the adapter knows to be wrong.
    """

    name: str
    required: frozenset[str] = frozenset()
    extra: frozenset[str] = frozenset()
    secrets: frozenset[str] = frozenset()
    session_scope: SessionScope = "user"
    examine: Callable[[ChannelConfig], object] = lambda _config: None


@dataclass(frozen=True, slots=True)
class ReadChannel:
    """A channel and what was said of its configuration."""

    config: ChannelConfig
    warnings: tuple[ChannelWarning, ...] = ()


def read_channels(
    document: Any, *, environment: Mapping[str, str], cwd: str, types: Sequence[AdapterType]
) -> tuple[ReadChannel, ...]:
    """Read all channels of a document ``{"channels": {<name>: {…}}}``.

    Args:
        environment: where values that begin with ``$`` are looked up.
        cwd: absolute path that relative ones begin at.

    Raises:
        ChannelConfigInvalid: one can't be used; the message names the place.
    """
    return tuple(
        read_channel(name, raw, environment=environment, cwd=cwd, types=types)
        for name, raw in channels_in(document).items()
    )


def channels_in(document: Any) -> Mapping[str, Any]:
    """The channels of a document, none of them read yet.

    Raises:
        ChannelConfigInvalid: see ``read_channels``.
    """
    channels = document.get("channels") if isinstance(document, Mapping) else None
    if not isinstance(channels, Mapping):
        raise ChannelConfigInvalid("channels: an object with a channel by each name is needed")
    return {str(name): raw for name, raw in channels.items()}


def read_channel(
    name: str, raw: Any, *, environment: Mapping[str, str], cwd: str, types: Sequence[AdapterType]
) -> ReadChannel:
    """Read one channel.

    Raises:
        ChannelConfigInvalid: see ``read_channels``.
    """
    reading = ChannelReading(_place(name, raw), raw, environment)
    adapter = _adapter_type(reading, types)
    config = ChannelConfig(
        name=name,
        type=adapter.name,
        cwd=_folder(reading, cwd),
        token=_hidden(reading, "token") or SecretStr(""),
        client_id=reading.secret("clientId"),
        client_secret=_hidden(reading, "clientSecret"),
        sender_policy=reading.choice("senderPolicy", get_args(SenderPolicy)),
        allowed_users=_users(reading),
        session_scope=_scope(reading, adapter.session_scope),
        approval_mode=reading.text("approvalMode"),
        instructions=reading.text("instructions"),
        model=reading.text("model"),
        identity=_identity(reading),
        memory_scope=_memory_scope(reading),
        group_policy=_group_policy(reading),
        groups=_groups(reading),
        dispatch_mode=reading.choice_of(raw.get("dispatchMode"), get_args(DispatchMode), key="dispatchMode"),
        block_streaming=_block_streaming(reading),
        group_history_limit=_limit(reading, raw, "groupHistoryLimit") or 0,
        permissions=reading.choice("permissions", get_args(Permissions)),
        extra=_extra(reading, adapter),
    )
    return ReadChannel(config, tuple(reading.warnings))


def channel_folder(name: str, raw: Any, *, cwd: str) -> str:
    """Where a channel works, see ``read_channel``; nothing else of it is read.

    Raises:
        ChannelConfigInvalid: it is no object, or no path is given.
    """
    return _folder(ChannelReading(_place(name, raw), raw, {}), cwd)


def _place(name: str, raw: Any) -> str:
    """Where a channel stands in the document, once it is sure that it is one; files are named after it."""
    path = f"channels.{name}"
    if not isinstance(raw, Mapping):
        raise ChannelConfigInvalid(f"{path}: an object is needed")
    if not name.isprintable() or not name.strip(" .") or len(quote(name, safe="")) > MAX_NAME_CHARACTERS:
        raise ChannelConfigInvalid(f"{path}: a name of at most {MAX_NAME_CHARACTERS} plain letters is needed")
    return path


def _adapter_type(reading: ChannelReading, types: Sequence[AdapterType]) -> AdapterType:
    wanted = reading.raw.get("type")
    names = ", ".join(sorted(one.name for one in types))
    if not isinstance(wanted, str) or not wanted:
        raise reading.refuse("type", f"it is missing; one of {names}")
    adapter = next((one for one in types if one.name == wanted), None)
    if adapter is None:
        raise reading.refuse("type", f"there is no {wanted!r}; one of {names}")
    for key in sorted(adapter.required):
        if reading.raw.get(key) in (None, ""):
            raise reading.refuse(key, f"a channel of type {wanted} needs it")
    return adapter


def _folder(reading: ChannelReading, cwd: str) -> str:
    value = reading.raw.get("cwd")
    if value is None or value == "":
        return cwd
    if not isinstance(value, str):
        raise reading.refuse("cwd", "a path is needed")
    is_at_home = value == "~" or value.startswith("~/")  # of others' homes nothing is known
    try:
        return os.path.normpath(Path(cwd) / (Path(value).expanduser() if is_at_home else value))
    except RuntimeError:
        raise reading.refuse("cwd", "there is no home to begin it at") from None


def _hidden(reading: ChannelReading, key: str) -> SecretStr | None:
    value = reading.secret(key)
    return SecretStr(value) if value is not None else None


def _users(reading: ChannelReading) -> tuple[str, ...]:
    value = reading.raw.get("allowedUsers")
    if value is None:
        return ()
    if not isinstance(value, list):
        raise reading.refuse("allowedUsers", "a list is needed")
    for index, one in enumerate(value):
        if not _is_id(one):
            reading.warn(f"allowedUsers.{index}", "an id is needed; it is left out")
    return tuple(str(one) for one in value if _is_id(one))


def _is_id(value: Any) -> bool:
    return (isinstance(value, str) and bool(value)) or (
        isinstance(value, int) and not isinstance(value, bool)
    )


def _scope(reading: ChannelReading, default: SessionScope) -> SessionScope:
    allowed: tuple[SessionScope, ...] = get_args(SessionScope)
    scope = reading.choice_or("sessionScope", allowed, "user", meaning="each user has a session")
    return scope or default


def _identity(reading: ChannelReading) -> ChannelIdentityConfig | None:
    labels = reading.labels("identity", ("id", "displayName", "description"))
    if not labels:
        return None
    return ChannelIdentityConfig(labels.get("id"), labels.get("displayName"), labels.get("description"))


def _memory_scope(reading: ChannelReading) -> ChannelMemoryScopeConfig | None:
    labels = reading.labels("memoryScope", ("namespace", "mode"))
    if not labels:
        return None
    mode = labels.get("mode")
    if mode not in (None, METADATA_ONLY):
        reading.warn("memoryScope.mode", f"only {METADATA_ONLY} is known, which it is now")
    return ChannelMemoryScopeConfig(labels.get("namespace"), METADATA_ONLY if mode else None)


def _group_policy(reading: ChannelReading) -> GroupPolicy:
    allowed: tuple[GroupPolicy, ...] = get_args(GroupPolicy)
    policy = reading.choice_or("groupPolicy", allowed, "disabled", meaning="groups are not served")
    return policy or "disabled"


def _groups(reading: ChannelReading) -> Mapping[str, GroupConfig]:
    value = reading.raw.get("groups")
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise reading.refuse("groups", "an object with a group by each chat id is needed")
    return {str(chat_id): _group(reading, f"groups.{chat_id}", raw) for chat_id, raw in value.items()}


def _group(reading: ChannelReading, key: str, raw: Any) -> GroupConfig:
    raw = {} if raw is None else raw
    if not isinstance(raw, Mapping):
        raise reading.refuse(key, "an object is needed")
    require_mention = raw.get("requireMention")
    if require_mention is None:
        require_mention = True
    if not isinstance(require_mention, bool):
        reading.warn(f"{key}.requireMention", "true or false is needed; a mention is required")
        require_mention = True
    return GroupConfig(
        require_mention=require_mention,
        dispatch_mode=reading.choice_of(
            raw.get("dispatchMode"), get_args(DispatchMode), key=f"{key}.dispatchMode"
        ),
        history_limit=_limit(reading, raw, f"{key}.groupHistoryLimit"),
    )


def _block_streaming(reading: ChannelReading) -> BlockStreaming | None:
    if reading.raw.get("blockStreaming") != "on":
        return None
    usual = BlockStreaming()
    size = reading.numbers(
        "blockStreamingChunk", {"minChars": usual.min_characters, "maxChars": usual.max_characters}
    )
    if not 1 <= size["minChars"] <= size["maxChars"]:
        raise reading.refuse("blockStreamingChunk", "1 <= minChars <= maxChars is needed")
    idle_ms = reading.numbers("blockStreamingCoalesce", {"idleMs": usual.idle_ms})["idleMs"]
    if idle_ms < 0:
        reading.warn("blockStreamingCoalesce.idleMs", "0 or more is needed; 0 is used")
    return BlockStreaming(size["minChars"], size["maxChars"], max(0, idle_ms))


def _limit(reading: ChannelReading, raw: Mapping[str, Any], key: str) -> int | None:
    """A number of messages; None where none was given, 0 for what means none."""
    value = raw.get("groupHistoryLimit")
    if value is None:
        return None
    found = whole_number(value)
    if found is None or found < 0:
        reading.warn(key, "a number of messages is needed; none are remembered")
    return max(0, found or 0)


def _extra(reading: ChannelReading, adapter: AdapterType) -> Mapping[str, Any]:
    extra = {key: value for key, value in reading.raw.items() if key not in KNOWN_KEYS}
    return extra | {key: _hidden(reading, key) for key in adapter.secrets if key in extra}
