"""The file that says which chat channels there are."""

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from channels.adapters.registry import TYPES
from channels.config import ChannelConfig
from channels.config_check import Finding, check_channels
from channels.config_reading import ReadChannel, channel_folder, channels_in, read_channels
from channels.errors import ChannelConfigInvalid
from core.workspaces import Workspace, Workspaces

MAX_FILE_BYTES = 1024 * 1024
YAML_SUFFIXES = (".yaml", ".yml")

_NO_WORKSPACE = "is no workspace that is served"


class _YamlLoader(yaml.SafeLoader):
    """Takes ``on`` and ``off`` as they are written: they are words of this configuration."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - as the base class has it
        first: [one for one in resolvers if first not in "oO" or one[0] != "tag:yaml.org,2002:bool"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - as the base class has it
    ) -> dict[Hashable, Any]:
        """See the base class.

        Raises:
            ValueError: a key is there twice.
        """
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        _require_unique(names)
        return super().construct_mapping(node, deep)


def load_document(path: Path) -> Any:
    """Read the file: YAML if its name ends so, else JSON.

    Raises:
        ChannelConfigInvalid: it can't be read.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ChannelConfigInvalid(f"can't read {path}: {error.strerror}") from None
    if len(content) > MAX_FILE_BYTES:
        raise ChannelConfigInvalid(f"{path} is larger than {MAX_FILE_BYTES} bytes")
    is_yaml = path.suffix in YAML_SUFFIXES
    try:
        if is_yaml:
            return yaml.load(content, _YamlLoader)  # noqa: S506 - a safe loader
        return json.loads(content, object_pairs_hook=_object)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ChannelConfigInvalid(f"{path} is no {'YAML' if is_yaml else 'JSON'}: {reason}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _require_unique([key for key, _ in pairs])
    return dict(pairs)


def _require_unique(keys: Sequence[str]) -> None:
    """Of two the first would be lost without a word."""
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} is there twice")


def load_channels(
    path: Path, *, workspaces: Workspaces, environment: Mapping[str, str]
) -> Sequence[ReadChannel]:
    """Read all channels; one without a folder of its own works in the primary workspace.

    Raises:
        ChannelConfigInvalid: the file or a channel of it can't be used.
    """
    cwd = workspaces.primary.path
    document = load_document(path)
    try:
        return read_channels(document, environment=environment, cwd=cwd, types=TYPES)
    except ChannelConfigInvalid as error:
        raise ChannelConfigInvalid(f"{error} (in {path}; memlane channel check tells all)") from None


def workspace_of(channel: ChannelConfig, workspaces: Workspaces) -> Workspace:
    """The workspace that a channel works in.

    Raises:
        ChannelConfigInvalid: its folder is none.
    """
    workspace = workspaces.by_path(channel.cwd)
    if workspace is None:
        raise ChannelConfigInvalid(f"channels.{channel.name}.cwd: {channel.cwd} {_NO_WORKSPACE}")
    return workspace


def folder_of(name: str, path: Path, *, workspaces: Workspaces) -> str:
    """Where a channel works; whatever else the file says of it and others need not be usable.

    Raises:
        ChannelConfigInvalid: the file can't be read, or has no such channel.
    """
    channels = channels_in(load_document(path))
    if name not in channels:
        raise ChannelConfigInvalid(f"there is no channel {name!r} in {path}")
    return channel_folder(name, channels[name], cwd=workspaces.primary.path)


def check_file(path: Path, *, workspaces: Workspaces, environment: Mapping[str, str]) -> Sequence[Finding]:
    """Look at the file strictly; also for folders that no workspace is.

    Raises:
        ChannelConfigInvalid: it can't be read.
    """
    cwd = workspaces.primary.path
    document = load_document(path)
    found = check_channels(document, environment=environment, cwd=cwd, types=TYPES)
    told = {finding.path for finding in found}
    return [*found, *(one for one in _without_workspace(document, workspaces) if one.path not in told)]


def _without_workspace(document: Any, workspaces: Workspaces) -> Iterator[Finding]:
    for name, raw in _objects(document):
        with suppress(ChannelConfigInvalid):  # a path that can't be read is told by who reads all of it
            if workspaces.by_path(channel_folder(name, raw, cwd=workspaces.primary.path)) is None:
                yield Finding(f"channels.{name}.cwd", f"it {_NO_WORKSPACE}")


def _objects(document: Any) -> Iterable[tuple[str, Any]]:
    try:
        return channels_in(document).items()
    except ChannelConfigInvalid:
        return ()
