"""Who works: live worker processes and what they say of each workspace's memory."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from core import keys
from core.ids import WorkspaceId
from core.keys import LaneKeys
from events.connect import storage_errors

if TYPE_CHECKING:
    import redis

WORKER_TTL_MS = 30_000
LOAD_TTL_MS = 10_000


class WorkerRegistry:
    """The registry in Redis. Only the server's clock decides who is alive."""

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client

    def announce(
        self, worker_id: str, facts: Mapping[str, str], availability: Mapping[WorkspaceId, bool]
    ) -> None:
        """Say that a worker lives, for 30 s from now.

        Args:
            facts: what operators want to know of it (host, pid, threads, model, deployment).
            availability: whether managed memory can be used, for each workspace that is known so far.

        Raises:
            StorageUnavailable: Redis gave no answer; announce again.
        """
        with storage_errors():
            expires = self._now_ms() + WORKER_TTL_MS
            with self._redis.pipeline(transaction=False) as pipe:
                pipe.hset(keys.worker(worker_id), "expiresAtMs", str(expires), items=_flat(facts))
                pipe.pexpire(keys.worker(worker_id), WORKER_TTL_MS)
                pipe.zadd(keys.WORKERS, {worker_id: expires})
                pipe.zremrangebyscore(keys.WORKERS, "-inf", expires - 2 * WORKER_TTL_MS)
                for workspace, available in availability.items():
                    name = LaneKeys(workspace).availability
                    pipe.hset(name, worker_id, f"{'yes' if available else 'no'}:{expires}")
                    pipe.pexpire(name, WORKER_TTL_MS)
                pipe.execute()

    def retire(self, worker_id: str) -> None:
        """Take a worker that stops out of the registry.

        Raises:
            StorageUnavailable: Redis gave no answer; the entry runs out by itself.
        """
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            pipe.zrem(keys.WORKERS, worker_id)
            pipe.delete(keys.worker(worker_id))
            pipe.execute()

    def note_load(self, *, waiting: int, oldest_wait_ms: int) -> None:
        """Say how far the workers are behind, as the last sweep saw it; forgotten after 10 s.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            pipe.hset(keys.LOAD, mapping={"waiting": waiting, "oldestWaitMs": oldest_wait_ms})
            pipe.pexpire(keys.LOAD, LOAD_TTL_MS)
            pipe.execute()

    def load(self) -> tuple[int, int]:
        """Lanes that wait, and how long the oldest has, milliseconds; zeros while nobody sweeps.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors():
            waiting, oldest_wait_ms = self._redis.hmget(keys.LOAD, ["waiting", "oldestWaitMs"])
        return int(waiting or 0), int(oldest_wait_ms or 0)

    def live_ids(self) -> set[str]:
        """Workers that announced themselves within 30 s.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors():
            return set(cast("list[str]", self._redis.zrangebyscore(keys.WORKERS, self._now_ms(), "+inf")))

    def models(self) -> set[str]:
        """Which models the agents of the live workers use.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        live = self.live_ids()
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            for worker_id in live:
                pipe.hget(keys.worker(worker_id), "model")
            return {model for model in pipe.execute() if model}

    def is_available(self, workspace: WorkspaceId) -> bool:
        """Whether a task may be accepted: False only if every live worker says no.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            pipe.time()
            pipe.zrange(keys.WORKERS, 0, -1, withscores=True)
            pipe.hgetall(LaneKeys(workspace).availability)
            time, workers, answers = pipe.execute()
        now_ms = _ms(time)
        live = [worker for worker, expires in workers if expires > now_ms]
        return not live or not all(_says_no(answers.get(worker), now_ms) for worker in live)

    def _now_ms(self) -> int:
        return _ms(self._redis.time())


def _flat(facts: Mapping[str, str]) -> list[str]:
    return [text for pair in facts.items() for text in pair]


def _ms(time: Any) -> int:
    seconds, micros = time
    return int(seconds) * 1000 + int(micros) // 1000


def _says_no(answer: str | None, now_ms: int) -> bool:
    word, _, expires = (answer or "").partition(":")
    return word == "no" and int(expires) > now_ms
