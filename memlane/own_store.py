"""Opens the memory store that this installation's lanes belong to, and no other."""

from core.settings import Settings
from core.workspaces import Workspaces
from jobs.stores import StoreMismatch, adopt_store, registered_stores
from memory.errors import StoreUnusable
from memory.store import Store, open_store


def open_own_store(settings: Settings, workspaces: Workspaces) -> Store:
    """Open the store in the memory base; a new one is made only for workspaces that never had any.

    With ``adopt_store`` set the lanes are moved to the store that is found or made here.

    Raises:
        StoreMismatch: the workspaces' tasks ran on another store so far; nothing was made or changed.
        StoreUnusable: the base is missing or can't be used, or its store is not the configured one.
        StoreBusy: a new store's lock was not free within 10 s.
        StorageUnavailable: Redis does not tell which store that is; nothing was made.
    """
    if settings.adopt_store:
        store = open_store(settings.memory_base, expect=settings.store_id)
        adopt_store(settings, workspaces, store.store_id)
        return store
    known = registered_stores(settings, workspaces)
    expected = settings.store_id or next(iter(known.values()), None)
    for path, store_id in known.items():
        if store_id != expected:
            raise _mismatch(path, reason=f"store {store_id}, not {expected}")
    try:
        return open_store(settings.memory_base, expect=expected)
    except StoreUnusable as error:
        if not known:
            raise
        raise _mismatch(next(iter(known)), reason=str(error)) from None


def _mismatch(path: str, *, reason: str) -> StoreMismatch:
    return StoreMismatch(
        f"the memory of workspace {path} was in another memory folder so far ({reason}); mount that one,"
        " or name it in MEMLANE_MEMORY_DIR (--memory-dir), or go on with the one here: start once with"
        " MEMLANE_ADOPT_STORE=1 (`memlane up --adopt-memory`)"
    )
