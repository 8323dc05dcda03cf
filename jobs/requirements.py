"""What Redis must be like before lanes are trusted to it."""

from typing import TYPE_CHECKING, Any

from redis.exceptions import ResponseError

from core.clock import wall_ms
from core.ids import new_uuid
from core.keys import CONFIG, PARTITIONS
from core.logs import get_logger
from events.connect import storage_errors
from jobs.deployment import DEPLOYMENT_FIELD
from jobs.errors import RedisUnfit

if TYPE_CHECKING:
    import redis

MIN_REDIS = (7, 0)
MIN_VALKEY = (7, 2)
MAX_SKEW_MS = 30_000
LAYOUT = "1"

_log = get_logger(__name__)


def check_redis(client: "redis.Redis", *, strict: bool) -> None:
    """Refuse a Redis that may lose accepted tasks, or whose keys are laid out otherwise.

    Args:
        strict: whether findings about its settings are refused; else they are logged as warnings. Another
            layout of keys is always refused.

    Raises:
        RedisUnfit: see above; nothing was changed.
        StorageUnavailable: no answer.
    """
    for finding in find_problems(client):
        if strict:
            raise RedisUnfit(f"{finding}; or set MEMLANE_REDIS_CHECK=warn")
        _log.warning("redis_unfit", finding=finding)
    _agree_on_layout(client)


def find_problems(client: "redis.Redis") -> list[str]:
    """What is wrong with this Redis, each with its mend.

    Raises:
        StorageUnavailable: no answer.
    """
    with storage_errors():
        facts: dict[str, Any] = client.info()
        seconds, micros = client.time()
    skew_ms = abs(int(seconds) * 1000 + int(micros) // 1000 - wall_ms())
    checks = [
        (_too_old(facts), "the Redis server is too old; use Redis 7.0 or Valkey 7.2, or a later one"),
        (not facts.get("aof_enabled"), "Redis does not persist; set `appendonly yes`"),
        (
            _appendfsync(client) == "no",
            "Redis does not flush what it persists; set `appendfsync always`, or `everysec`",
        ),
        (
            facts.get("maxmemory_policy") != "noeviction",
            "Redis may drop accepted tasks; set `maxmemory-policy noeviction`",
        ),
        (
            skew_ms > MAX_SKEW_MS,
            f"this host's clock is {skew_ms // 1000} s off that of Redis; synchronise them (NTP)",
        ),
    ]
    return [mend for is_wrong, mend in checks if is_wrong]


def _appendfsync(client: "redis.Redis") -> str | None:
    """How the log reaches the disk; None where the server doesn't let us ask."""
    try:
        with storage_errors():
            return client.config_get("appendfsync").get("appendfsync")
    except ResponseError:
        return None


def _too_old(facts: dict[str, Any]) -> bool:
    # Valkey reports a Redis version for the sake of old clients
    valkey = facts.get("valkey_version")
    if valkey:
        return _version(valkey) < MIN_VALKEY
    return _version(facts.get("redis_version", "0.0")) < MIN_REDIS


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in str(text).split(".")[:2] if part.isdigit())


def _agree_on_layout(client: "redis.Redis") -> None:
    ours = {"layout": LAYOUT, "partitions": str(PARTITIONS)}
    # the deployment's name comes with the first start, so that no backup of the data lacks it
    firsts = ours | {DEPLOYMENT_FIELD: new_uuid()}
    with storage_errors(), client.pipeline(transaction=True) as pipe:
        for name, value in firsts.items():
            pipe.hsetnx(CONFIG, name, value)
        pipe.hgetall(CONFIG)
        stored: dict[str, str] = pipe.execute()[-1]
    wrong = {name: stored[name] for name, value in ours.items() if stored[name] != value}
    if wrong:
        raise RedisUnfit(
            f"another version of memlane has its keys in this Redis ({wrong}); give this one its own"
        )
