"""Which memory store a workspace's lane belongs to: the first one that ran a task of it."""

from collections.abc import Iterable
from contextlib import closing

from core.errors import ConfigError
from core.keys import LaneKeys
from core.settings import Settings
from core.workspaces import Workspace
from events.connect import connect, storage_errors

STORE_FIELD = "storeId"


class StoreMismatch(ConfigError):
    """A workspace's tasks ran on another memory store so far: a volume may be missing here."""

    code = "store_mismatch"


def registered_stores(settings: Settings, workspaces: Iterable[Workspace]) -> dict[str, str]:
    """Store ids by workspace path, of the workspaces whose lanes know one.

    Raises:
        StorageUnavailable: Redis gave no answer.
    """
    with closing(connect(settings.state)) as client, storage_errors():
        known = {each.path: client.hget(LaneKeys(each.id).lane, STORE_FIELD) for each in workspaces}
    return {path: str(store_id) for path, store_id in known.items() if store_id is not None}


def adopt_store(settings: Settings, workspaces: Iterable[Workspace], store_id: str) -> None:
    """Let lanes that know a store go on with this one.

    Raises:
        StorageUnavailable: Redis gave no answer; some may have been moved.
    """
    with closing(connect(settings.state)) as client, storage_errors():
        for workspace in workspaces:
            lane = LaneKeys(workspace.id).lane
            if client.hexists(lane, STORE_FIELD):
                client.hset(lane, STORE_FIELD, store_id)
