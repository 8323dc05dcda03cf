"""Which memory store a workspace's lane belongs to: the first one that ran a task of it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from core.errors import ConfigError
from core.keys import LaneKeys
from core.settings import Settings
from core.workspaces import Workspace
from events.connect import connect, storage_errors
from events.errors import StorageUnavailable

if TYPE_CHECKING:
    import redis

STORE_FIELD = "storeId"


class StoreMismatch(ConfigError):
    """A workspace's tasks ran on another memory store so far: a volume may be missing here."""

    code = "store_mismatch"


def require_own_stores(settings: Settings, workspaces: Iterable[Workspace], store_id: str) -> None:
    """Refuse to start on a memory base that is not the one the lanes know; a Redis that is away is not asked.

    With ``adopt_store`` set the lanes are moved to this store instead.

    Raises:
        StoreMismatch: see above; the message names the workspace and the ways out.
    """
    client = connect(settings.state)
    try:
        for workspace in workspaces:
            _require_own(client, workspace, store_id, adopt=settings.adopt_store)
    except StorageUnavailable:
        return  # each claim asks again
    finally:
        client.close()


def _require_own(client: "redis.Redis", workspace: Workspace, store_id: str, *, adopt: bool) -> None:
    lane = LaneKeys(workspace.id).lane
    with storage_errors():
        known = client.hget(lane, STORE_FIELD)
        if known in (None, store_id):
            return
        if adopt:
            client.hset(lane, STORE_FIELD, store_id)
            return
    raise StoreMismatch(
        f"the memory of workspace {workspace.path} was in another memory folder so far; mount that one,"
        " or name it in MEMLANE_MEMORY_DIR (--memory-dir), or go on with the one here: start once with"
        " MEMLANE_ADOPT_STORE=1 (`memlane up --adopt-memory`)"
    )
