"""The name under which a memory store knows the lanes of one state database."""

from typing import TYPE_CHECKING

from core.ids import LaneId, WorkspaceId, lane_id, new_uuid
from core.keys import CONFIG
from events.connect import storage_errors

if TYPE_CHECKING:
    import redis

DEPLOYMENT_FIELD = "deployment"


class Deployment:
    """What keeps two services on one memory base apart: each state database has its own name.

    Fences grow per database. Two databases under one name would fight over the fences in the store.
    """

    def __init__(self, client: "redis.Redis", *, configured: str | None) -> None:
        """Look nothing up yet.

        Args:
            configured: the name, if somebody chose one; else the database keeps a random one.
        """
        self._redis = client
        self._name = configured

    def lane_of(self, workspace: WorkspaceId) -> LaneId:
        """Name a workspace's lane as the memory store knows it.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        if self._name is None:
            with storage_errors():
                # read first: a database that is out of memory refuses every write, and lanes must drain then
                if self._redis.hget(CONFIG, DEPLOYMENT_FIELD) is None:
                    self._redis.hsetnx(CONFIG, DEPLOYMENT_FIELD, new_uuid())
                self._name = str(self._redis.hget(CONFIG, DEPLOYMENT_FIELD))
        return lane_id(self._name, workspace)
