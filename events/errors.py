"""What can go wrong with the event log and its storage."""

from core.errors import DependencyError, StateError


class StorageUnavailable(DependencyError):
    """Redis gave no answer in time.

    A write may or may not have happened; all our writes are safe to repeat.
    """

    code = "storage_unavailable"


class StorageFull(DependencyError):
    """Redis refuses to store more. Nothing was accepted."""

    code = "storage_full"


class SubscriptionEvicted(StateError):
    """A reader fell so far behind that it was sent away; the subscription is closed.

    Resume with the id of the last event that was read.
    """

    code = "client_evicted"
