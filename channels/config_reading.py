"""Reads the configuration of channels: lenient where a mistake does no harm, and then it warns."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_args

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
from channels.errors import ChannelConfigInvalid

_T = TypeVar("_T")

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
    """

    name: str
    required: frozenset[str] = frozenset()
    extra: frozenset[str] = frozenset()
    secrets: frozenset[str] = frozenset()
    session_scope: SessionScope = "user"


@dataclass(frozen=True, slots=True)
class ChannelWarning:
    """Something that was not taken as it was written.

    Attributes:
        path: where, such as ``channels.team.identity.id``.
    """

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class ReadChannel:
    """A channel and what was said of its configuration."""

    config: ChannelConfig
    warnings: tuple[ChannelWarning, ...] = ()


@dataclass(slots=True)
class _Reading:
    """One channel while it is read."""

    path: str
    raw: Mapping[str, Any]
    environment: Mapping[str, str]
    warnings: list[ChannelWarning] = field(default_factory=list)

    def warn(self, key: str, message: str) -> None:
        self.warnings.append(ChannelWarning(f"{self.path}.{key}", message))

    def refuse(self, key: str, message: str) -> ChannelConfigInvalid:
        return ChannelConfigInvalid(f"{self.path}.{key}: {message}")


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
    channels = document.get("channels") if isinstance(document, Mapping) else None
    if not isinstance(channels, Mapping):
        raise ChannelConfigInvalid("channels: an object with a channel by each name is needed")
    return tuple(
        read_channel(str(name), raw, environment=environment, cwd=cwd, types=types)
        for name, raw in channels.items()
    )


def read_channel(
    name: str, raw: Any, *, environment: Mapping[str, str], cwd: str, types: Sequence[AdapterType]
) -> ReadChannel:
    """Read one channel.

    Raises:
        ChannelConfigInvalid: see ``read_channels``.
    """
    path = f"channels.{name}"
    if not isinstance(raw, Mapping):
        raise ChannelConfigInvalid(f"{path}: an object is needed")
    reading = _Reading(path, raw, environment)
    adapter = _adapter_type(reading, types)
    config = ChannelConfig(
        name=name,
        type=adapter.name,
        cwd=_folder(reading, cwd),
        token=SecretStr(_secret(reading, "token") or ""),
        client_id=_secret(reading, "clientId"),
        client_secret=_wrapped(_secret(reading, "clientSecret")),
        sender_policy=_choice(reading, "senderPolicy", get_args(SenderPolicy)),
        allowed_users=_users(reading),
        session_scope=_scope(reading, adapter.session_scope),
        approval_mode=_text(reading, "approvalMode"),
        instructions=_text(reading, "instructions"),
        model=_text(reading, "model"),
        identity=_identity(reading),
        memory_scope=_memory_scope(reading),
        group_policy=_group_policy(reading),
        groups=_groups(reading),
        dispatch_mode=_dispatch_mode(reading, raw.get("dispatchMode"), "dispatchMode"),
        block_streaming=_block_streaming(reading),
        group_history_limit=_limit(raw.get("groupHistoryLimit")) or 0,
        permissions=_choice(reading, "permissions", get_args(Permissions)),
        extra=_extra(reading, adapter),
    )
    return ReadChannel(config, tuple(reading.warnings))


def channel_folder(name: str, raw: Any, *, cwd: str) -> str:
    """Where a channel works, see ``read_channel``; nothing else of it is read.

    Raises:
        ChannelConfigInvalid: it is no object, or no path is given.
    """
    path = f"channels.{name}"
    if not isinstance(raw, Mapping):
        raise ChannelConfigInvalid(f"{path}: an object is needed")
    return _folder(_Reading(path, raw, {}), cwd)


def _adapter_type(reading: _Reading, types: Sequence[AdapterType]) -> AdapterType:
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


def _folder(reading: _Reading, cwd: str) -> str:
    value = reading.raw.get("cwd")
    if value is None or value == "":
        return cwd
    if not isinstance(value, str):
        raise reading.refuse("cwd", "a path is needed")
    return os.path.normpath(Path(cwd) / Path(value).expanduser())


def _secret(reading: _Reading, key: str) -> str | None:
    """A value that may stand in the environment; ``$$`` begins one that begins with ``$``."""
    value = reading.raw.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise reading.refuse(key, "a text is needed")
    return resolved(value, reading.environment, path=f"{reading.path}.{key}")


def resolved(value: str, environment: Mapping[str, str], *, path: str) -> str:
    """A text, or what the environment has under the name that follows its ``$``.

    Raises:
        ChannelConfigInvalid: the environment has nothing there.
    """
    if value.startswith("$$"):
        return value[1:]
    if not value.startswith("$"):
        return value
    found = environment.get(value[1:], "")
    if not found:
        raise ChannelConfigInvalid(f"{path}: the environment variable {value[1:]} is not set")
    return found


def _wrapped(value: str | None) -> SecretStr | None:
    return SecretStr(value) if value is not None else None


def _choice(reading: _Reading, key: str, allowed: tuple[_T, ...]) -> _T:
    """One of what is allowed; the first of it for no value."""
    value = reading.raw.get(key)
    if not value:
        return allowed[0]
    found = next((one for one in allowed if one == value), None)
    if found is None:
        raise reading.refuse(key, f"one of {', '.join(map(str, allowed))} is needed")
    return found


def _users(reading: _Reading) -> tuple[str, ...]:
    value = reading.raw.get("allowedUsers")
    if value is None:
        return ()
    if not isinstance(value, list):
        raise reading.refuse("allowedUsers", "a list is needed")
    return tuple(str(one) for one in value if one is not None and not isinstance(one, bool))


def _scope(reading: _Reading, default: SessionScope) -> SessionScope:
    value = reading.raw.get("sessionScope")
    if not value:
        return default
    found = next((one for one in get_args(SessionScope) if one == value), None)
    if found is None:
        reading.warn("sessionScope", f"{value!r} is unknown; each user has a session")
        return "user"
    scope: SessionScope = found
    return scope


def _text(reading: _Reading, key: str) -> str | None:
    value = reading.raw.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        reading.warn(key, "a text is needed; it is left out")
        return None
    return value


def _labels(reading: _Reading, key: str, fields: Sequence[str]) -> Mapping[str, str] | None:
    """The texts of an object that only labels something; what can't be used is left out."""
    value = reading.raw.get(key)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        reading.warn(key, "an object is needed; it is left out")
        return None
    labels = {name: value[name] for name in fields if value.get(name) not in (None, "")}
    for name in [name for name, label in labels.items() if not isinstance(label, str)]:
        reading.warn(f"{key}.{name}", "a text is needed; it is left out")
        del labels[name]
    return labels


def _identity(reading: _Reading) -> ChannelIdentityConfig | None:
    labels = _labels(reading, "identity", ("id", "displayName", "description"))
    if not labels:
        return None
    return ChannelIdentityConfig(labels.get("id"), labels.get("displayName"), labels.get("description"))


def _memory_scope(reading: _Reading) -> ChannelMemoryScopeConfig | None:
    labels = _labels(reading, "memoryScope", ("namespace", "mode"))
    if not labels:
        return None
    mode = labels.get("mode")
    if mode not in (None, METADATA_ONLY):
        reading.warn("memoryScope.mode", f"only {METADATA_ONLY} is known, which it is now")
    return ChannelMemoryScopeConfig(labels.get("namespace"), METADATA_ONLY if mode else None)


def _group_policy(reading: _Reading) -> GroupPolicy:
    value = reading.raw.get("groupPolicy")
    if not value:
        return "disabled"
    found = next((one for one in get_args(GroupPolicy) if one == value), None)
    if found is None:
        reading.warn("groupPolicy", f"{value!r} is unknown; groups are not served")
        return "disabled"
    policy: GroupPolicy = found
    return policy


def _groups(reading: _Reading) -> Mapping[str, GroupConfig]:
    value = reading.raw.get("groups")
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise reading.refuse("groups", "an object with a group by each chat id is needed")
    return {str(chat_id): _group(reading, f"groups.{chat_id}", raw) for chat_id, raw in value.items()}


def _group(reading: _Reading, key: str, raw: Any) -> GroupConfig:
    if not isinstance(raw, Mapping):
        raise reading.refuse(key, "an object is needed")
    require_mention = raw.get("requireMention", True)
    if not isinstance(require_mention, bool):
        reading.warn(f"{key}.requireMention", "true or false is needed; a mention is required")
        require_mention = True
    return GroupConfig(
        require_mention=require_mention,
        dispatch_mode=_dispatch_mode(reading, raw.get("dispatchMode"), f"{key}.dispatchMode"),
        history_limit=_limit(raw.get("groupHistoryLimit")),
    )


def _dispatch_mode(reading: _Reading, value: Any, key: str) -> DispatchMode | None:
    if not value:
        return None
    found = next((one for one in get_args(DispatchMode) if one == value), None)
    if found is None:
        raise reading.refuse(key, f"one of {', '.join(get_args(DispatchMode))} is needed")
    mode: DispatchMode = found
    return mode


def _block_streaming(reading: _Reading) -> BlockStreaming | None:
    if reading.raw.get("blockStreaming") != "on":
        return None
    usual = BlockStreaming()
    size = _numbers_of(reading, "blockStreamingChunk")
    least, most = size("minChars", usual.min_characters), size("maxChars", usual.max_characters)
    if not 1 <= least <= most:
        raise reading.refuse("blockStreamingChunk", "1 <= minChars <= maxChars is needed")
    idle_ms = _numbers_of(reading, "blockStreamingCoalesce")("idleMs", usual.idle_ms)
    return BlockStreaming(least, most, max(0, idle_ms))


def _numbers_of(reading: _Reading, key: str) -> Callable[[str, int], int]:
    raw = reading.raw.get(key)
    values = raw if isinstance(raw, Mapping) else {}

    def number(name: str, default: int) -> int:
        value = values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            reading.warn(f"{key}.{name}", f"a number is needed; {default} is used")
            return default
        return math.floor(value)

    return number


def _limit(value: Any) -> int | None:
    """A number of messages; None where none was given, 0 for what means none."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return max(0, math.floor(value))


def _extra(reading: _Reading, adapter: AdapterType) -> Mapping[str, Any]:
    extra = {key: value for key, value in reading.raw.items() if key not in KNOWN_KEYS}
    secrets = {key: _wrapped(_secret(reading, key)) for key in adapter.secrets if key in extra}
    return extra | secrets
