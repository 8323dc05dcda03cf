"""Which store it is: ``store-id``, a random UUID that is made with the store."""

from uuid import UUID

from core import ids
from memory.errors import StoreUnusable
from memory.files import StoreFiles
from memory.lock import hold_lock

_TOP = "."
_STORE_ID = "store-id"


def find_store_id(files: StoreFiles) -> bytes | None:
    """Content of the store's id file, None when there is none; the caller may hold the store's lock.

    Raises:
        StoreUnusable: something else stands there, or it is being made just now.
    """
    return files.read(_TOP, _STORE_ID)


def read_store_id(files: StoreFiles) -> bytes | None:
    """Content of the store's id file, None when there is none; waits for one that is being made.

    Raises:
        StoreBusy: the lock was not free within 10 s.
        StoreUnusable: something else stands there.
    """
    try:
        return find_store_id(files)
    except StoreUnusable:
        # it is being made just now, or its maker died: under the lock its draft goes, which is a second link
        with files.open() as folder, hold_lock(folder):
            files.sweep()
            return find_store_id(files)


def require_store(files: StoreFiles, content: bytes | None, expected: str) -> None:
    """Refuse an id that is not the expected one.

    Raises:
        StoreUnusable: it is missing, damaged or another one.
    """
    if content is None:
        raise StoreUnusable(f"the memory store below {files.base} is missing (expected {expected})")
    found = parse_store_id(content)
    if found != expected:
        raise StoreUnusable(
            f"the memory store below {files.base} is another one: {found} (expected {expected})"
        )


def make_store_id(files: StoreFiles) -> bytes:
    """Make the store with a fresh id, unless somebody else does so first.

    Raises:
        StoreBusy: the lock was not free within 10 s.
    """
    files.make_store()
    with files.open() as folder, hold_lock(folder) as lock:
        files.sweep()
        content = find_store_id(files)
        if content is None:
            content = ids.new_uuid().encode()
            lock.check()
            files.create(_TOP, _STORE_ID, content)
        return content


def parse_store_id(content: bytes) -> str:
    """Read an id.

    Raises:
        StoreUnusable: it is none.
    """
    try:
        return str(UUID(content.decode("ascii").strip()))
    except ValueError as error:
        raise StoreUnusable(f"{_STORE_ID} is damaged") from error
