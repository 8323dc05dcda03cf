"""The file that says which chat channels there are."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from channels.adapters.registry import TYPES
from channels.config_check import Finding, check_channels
from channels.config_reading import ReadChannel, channel_folder, channels_in, read_channels
from channels.errors import ChannelConfigInvalid
from core.workspaces import Workspaces

MAX_FILE_BYTES = 1024 * 1024
YAML_SUFFIXES = (".yaml", ".yml")


class _YamlLoader(yaml.SafeLoader):
    """Takes ``on`` and ``off`` as they are written: they are words of this configuration."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - as the base class has it
        first: [one for one in resolvers if first not in "oO" or one[0] != "tag:yaml.org,2002:bool"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


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
        return yaml.load(content, _YamlLoader) if is_yaml else json.loads(content)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ChannelConfigInvalid(f"{path} is no {'YAML' if is_yaml else 'JSON'}: {reason}") from None


def load_channels(
    path: Path, *, workspaces: Workspaces, environment: Mapping[str, str]
) -> Sequence[ReadChannel]:
    """Read all channels; one without a folder of its own works in the primary workspace.

    Raises:
        ChannelConfigInvalid: the file or a channel of it can't be used.
    """
    cwd = workspaces.primary.path
    return read_channels(load_document(path), environment=environment, cwd=cwd, types=TYPES)


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
    found = list(check_channels(document, environment=environment, cwd=cwd, types=TYPES))
    if all(finding.severity == "warning" for finding in found):
        for read in read_channels(document, environment=environment, cwd=cwd, types=TYPES):
            if workspaces.by_path(read.config.cwd) is None:
                where = f"channels.{read.config.name}.cwd"
                found.append(Finding(where, "it is no workspace that is served"))
    return found
