"""The Lua scripts of lanes, and the keys and arguments that they begin with."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from core.ids import new_uuid
from core.keys import LaneKeys
from events.scripts import Scripts, assembled, lua

if TYPE_CHECKING:
    import redis

FRAGMENTS = {
    "submit": ("lane", "records"),
    "cancel": ("lane", "records"),
    "claim": ("lane", "lease"),
    "renew": (),
    "refence": (),
    "progress": (),
    "scrub": (),
    "finish": ("lane", "records", "lease"),
    "sweep": (),
    "expire_owner": (),
    "hold": ("lane",),
    "take": (),
    "drop_workspace": ("lane", "records"),
}
"""What each script takes beside the event fragment and the prelude, in this order."""

KNOWN_LANES = 4096  # whose keys are remembered


@cache
def source(name: str) -> str:
    """Full source of a script as it is sent to Redis."""
    return assembled(lua("jobs", name), [lua("jobs", part) for part in ("prelude", *FRAGMENTS[name])])


def lane_scripts(client: "redis.Redis", *, is_pinned: bool = False) -> Scripts:
    """The scripts of this package. All but ``take`` are safe to repeat after a lost reply.

    Args:
        is_pinned: as for ``Scripts``.
    """
    return Scripts(client, {name: source(name) for name in FRAGMENTS}, is_pinned=is_pinned)


lane_keys = lru_cache(KNOWN_LANES)(LaneKeys)
"""The keys of a workspace's lane; made once for each."""


@lru_cache(KNOWN_LANES)
def state_keys(keys: LaneKeys) -> tuple[str, ...]:
    """The keys that scripts which change a lane take first, events last."""
    shared = keys.partition
    lane = (keys.lane, keys.pending, keys.index, keys.done)
    return (*lane, shared.due, shared.wait, shared.stats, keys.events)


def log_args(keys: LaneKeys) -> list[str]:
    """The arguments that these scripts take first; the epoch is for an event log that has none."""
    return [keys.base, keys.workspace, keys.channel, new_uuid()]


def stamp_in(text: str) -> int | None:
    """A doorbell's stamp in a reply; None when none is to be rung."""
    return int(text) or None
