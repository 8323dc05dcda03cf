"""Looks at the configuration of channels strictly: tells everything that is not as it should be."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal, get_args

from channels.config import (
    ANY_GROUP,
    METADATA_ONLY,
    DispatchMode,
    GroupPolicy,
    Permissions,
    SenderPolicy,
    SessionScope,
)
from channels.config_reading import KNOWN_KEYS, AdapterType, channels_in, read_channel
from channels.errors import ChannelConfigInvalid

ALIKE = 0.75  # of two keys, so that one may be meant by the other

Severity = Literal["error", "warning"]

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "senderPolicy": get_args(SenderPolicy),
    "sessionScope": get_args(SessionScope),
    "groupPolicy": get_args(GroupPolicy),
    "dispatchMode": get_args(DispatchMode),
    "blockStreaming": ("on", "off"),
    "permissions": get_args(Permissions),
    "approvalMode": ("plan", "default", "auto-edit", "auto", "yolo"),
}
_GROUP_KEYS = frozenset({"requireMention", "dispatchMode", "groupHistoryLimit"})
_INNER_KEYS: Mapping[str, frozenset[str]] = {
    "blockStreamingChunk": frozenset({"minChars", "maxChars"}),
    "blockStreamingCoalesce": frozenset({"idleMs"}),
}
_LABEL_KEYS: Mapping[str, frozenset[str]] = {
    "identity": frozenset({"id", "displayName", "description"}),
    "memoryScope": frozenset({"namespace", "mode"}),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be.

    Attributes:
        path: where, such as ``channels.team.identity.id``.
        severity: an error keeps the channel from starting, or from doing what is written.
    """

    path: str
    message: str
    severity: Severity = "error"


def check_channels(
    document: Any, *, environment: Mapping[str, str], cwd: str, types: Sequence[AdapterType]
) -> tuple[Finding, ...]:
    """Look at all channels of a document, see ``config_reading.read_channels``; one finding a place."""
    try:
        channels = channels_in(document)
    except ChannelConfigInvalid as error:
        path, _, message = str(error).partition(": ")
        return (Finding(path, message),)
    found: list[Finding] = []
    for name, raw in channels.items():
        path = f"channels.{name}"
        found += _refusals(path, raw, environment=environment, cwd=cwd, types=types)
        if isinstance(raw, Mapping):
            found += _strict(path, raw, types)
    first: dict[str, Finding] = {}
    for finding in found:
        first.setdefault(finding.path, finding)
    return tuple(first.values())


def _refusals(
    path: str, raw: Any, *, environment: Mapping[str, str], cwd: str, types: Sequence[AdapterType]
) -> Iterator[Finding]:
    """What reading refuses, one after the other, and what it warns of: here all of it is an error."""
    name, seen = path.removeprefix("channels."), set[str]()
    raw = raw if not isinstance(raw, Mapping) else {**raw, "blockStreaming": "on"}  # its sizes count
    while True:
        try:
            read = read_channel(name, raw, environment=environment, cwd=cwd, types=types)
            next(one for one in types if one.name == read.config.type).examine(read.config)
        except ChannelConfigInvalid as error:
            place, _, message = str(error).removeprefix(path).partition(": ")
            yield Finding(path + place, message)
            if place in seen or not place:
                return
            seen.add(place)
            raw, types = _without(raw, place), [_contented(one, place) for one in types]
        else:
            yield from (Finding(warning.path, warning.message) for warning in read.warnings)
            return


def _without(raw: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    """A channel without what was found fault with, be it in a group; the rest is looked at then."""
    key, _, inner = place.removeprefix(".").partition(".")
    groups = raw.get(key)
    if not inner or not isinstance(groups, Mapping):
        return {name: value for name, value in raw.items() if name != key}
    named = [str(name) for name in groups if f"{inner}.".startswith(f"{name}.")]
    blamed = max(named, key=len, default="")  # ids may have dots
    return {**raw, key: {name: value for name, value in groups.items() if str(name) != blamed}}


def _contented(adapter: AdapterType, place: str) -> AdapterType:
    """An adapter that does not ask for what is known to be amiss."""
    return replace(adapter, required=adapter.required - {place.removeprefix(".")})


def _strict(path: str, raw: Mapping[str, Any], types: Sequence[AdapterType]) -> Iterator[Finding]:
    adapter = next((one for one in types if one.name == raw.get("type")), None)
    known = KNOWN_KEYS | (adapter.extra if adapter is not None else frozenset())
    yield from _unknown(path, raw, known)
    yield from _choices(path, raw)
    yield from _labels(path, raw, "identity")
    yield from _labels(path, raw, "memoryScope")
    for key, inner in _INNER_KEYS.items():
        value = raw.get(key)
        yield from _unknown(f"{path}.{key}", value if isinstance(value, Mapping) else {}, inner)
    yield from _groups(path, raw)
    yield from _access(path, raw)


def _unknown(path: str, raw: Mapping[str, Any], known: frozenset[str]) -> Iterator[Finding]:
    for key in raw:
        if key not in known:
            meant = get_close_matches(str(key), known, n=1, cutoff=ALIKE)
            hint = f"; {meant[0]} is" if meant else ""
            yield Finding(f"{path}.{key}", f"it is not known{hint}", "warning")


def _choices(path: str, raw: Mapping[str, Any]) -> Iterator[Finding]:
    for key, allowed in _CHOICES.items():
        value = raw.get(key)
        if value is not None and value not in allowed:
            yield Finding(f"{path}.{key}", f"one of {', '.join(allowed)} is needed")


def _labels(path: str, raw: Mapping[str, Any], key: str) -> Iterator[Finding]:
    value, known = raw.get(key), _LABEL_KEYS[key]
    if isinstance(value, Mapping):
        yield from _unknown(f"{path}.{key}", value, known)
        if not any(value.get(name) for name in known):
            yield Finding(f"{path}.{key}", "it says nothing", "warning")
        mode = value.get("mode")
        if key == "memoryScope" and mode not in (None, "", METADATA_ONLY):
            yield Finding(f"{path}.{key}.mode", f"only {METADATA_ONLY} is known")


def _groups(path: str, raw: Mapping[str, Any]) -> Iterator[Finding]:
    given, policy = raw.get("groups"), raw.get("groupPolicy")
    groups = given if isinstance(given, Mapping) else {}
    if groups and policy in (None, "", "disabled"):
        yield Finding(f"{path}.groups", "groups are not served while groupPolicy is disabled", "warning")
    if policy == "allowlist" and not set(groups) - {ANY_GROUP}:
        yield Finding(f"{path}.groups", "no group is listed, so none is served", "warning")
    for chat_id, group in groups.items():
        where = f"{path}.groups.{chat_id}"
        if isinstance(group, Mapping):
            yield from _unknown(where, group, _GROUP_KEYS)
            mode = group.get("dispatchMode")
            if mode is not None and mode not in get_args(DispatchMode):
                modes = ", ".join(get_args(DispatchMode))
                yield Finding(f"{where}.dispatchMode", f"one of {modes} is needed")


def _access(path: str, raw: Mapping[str, Any]) -> Iterator[Finding]:
    users, policy = raw.get("allowedUsers"), raw.get("senderPolicy") or "allowlist"
    if policy == "allowlist" and not users:
        yield Finding(f"{path}.allowedUsers", "nobody is listed, so nobody may talk to the agent", "warning")
    if isinstance(users, list):
        for index, user in enumerate(users):
            if not isinstance(user, str) or not user:
                message = "an id is a text that is not empty, a number in quotation marks"
                yield Finding(f"{path}.allowedUsers.{index}", message)
    if policy == "open" and raw.get("groupPolicy") == "open":
        yield Finding(f"{path}.senderPolicy", "everybody in every group may use the agent", "warning")
