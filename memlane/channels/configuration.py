"""The file that says which chat channels there are."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from channels.adapters.registry import TYPES
from channels.config_check import Finding, check_channels
from channels.config_reading import ReadChannel, read_channels
from channels.errors import ChannelConfigInvalid
from core.workspaces import Workspaces

MAX_FILE_BYTES = 1024 * 1024


def load_document(path: Path) -> Any:
    """Read the file, JSON or YAML.

    Raises:
        ChannelConfigInvalid: it can't be read.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ChannelConfigInvalid(f"can't read {path}: {error.strerror}") from None
    if len(content) > MAX_FILE_BYTES:
        raise ChannelConfigInvalid(f"{path} is larger than {MAX_FILE_BYTES} bytes")
    try:
        return yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ChannelConfigInvalid(f"{path} is neither JSON nor YAML: {reason}") from None


def load_channels(
    path: Path, *, workspaces: Workspaces, environment: Mapping[str, str]
) -> Sequence[ReadChannel]:
    """Read all channels; one without a folder of its own works in the primary workspace.

    Raises:
        ChannelConfigInvalid: the file or a channel of it can't be used.
    """
    cwd = workspaces.primary.path
    return read_channels(load_document(path), environment=environment, cwd=cwd, types=TYPES)


def check_file(path: Path, *, workspaces: Workspaces, environment: Mapping[str, str]) -> Sequence[Finding]:
    """Look at the file strictly; also for folders that no workspace is.

    Raises:
        ChannelConfigInvalid: it can't be read.
    """
    cwd = workspaces.primary.path
    document = load_document(path)
    found = list(check_channels(document, environment=environment, cwd=cwd, types=TYPES))
    if not found or all(finding.severity == "warning" for finding in found):
        for read in read_channels(document, environment=environment, cwd=cwd, types=TYPES):
            if workspaces.by_path(read.config.cwd) is None:
                where = f"channels.{read.config.name}.cwd"
                found.append(Finding(where, "it is no workspace that is served"))
    return found
