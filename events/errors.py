"""What can go wrong with the event log and its storage."""

from core.errors import DependencyError, InputError, StateError


class StorageUnavailable(DependencyError):
    """Redis gave no answer in time.

    A write may or may not have happened; writes to lanes and sessions are safe to repeat.
    """

    code = "storage_unavailable"


class StorageFull(DependencyError):
    """Redis refuses to store more. Nothing was accepted."""

    code = "storage_full"


class SubscriptionEnded(StateError):
    """There will be no further event; what came last says why, where there is something to say."""

    code = "subscription_ended"


class SubscriptionEvicted(SubscriptionEnded):
    """A reader fell so far behind that it was sent away; the subscription is closed.

    Resume with the id of the last event that was read.
    """

    code = "client_evicted"


class SessionNotFound(InputError):
    """No such client session: it never was, was closed, or was not used for too long."""

    code = "session_not_found"

    def __init__(self, session_id: str) -> None:
        super().__init__(f'No session with id "{session_id}"')
        self.session_id = session_id


class SubscriberLimitExceeded(StateError):
    """A session has as many streams as it may have.

    Attributes:
        limit: how many that are.
    """

    code = "subscriber_limit_exceeded"

    def __init__(self, limit: int) -> None:
        super().__init__(f"EventBus subscriber limit reached ({limit})")
        self.limit = limit


class InvalidClientId(InputError):
    """A client id is malformed, or not registered for the workspace or session.

    Attributes:
        client_id: the id, when it is well-formed.
        session_id: the session that it takes no part in, if one was asked for.
    """

    code = "invalid_client_id"

    def __init__(self, message: str, *, client_id: str | None = None, session_id: str | None = None) -> None:
        super().__init__(message)
        self.client_id = client_id
        self.session_id = session_id


class ChannelLeaseLost(StateError):
    """Another process serves the channel now; nothing was changed. Stop serving it."""

    code = "channel_lease_lost"


class ChannelBacklogFull(StateError):
    """Too many messages of a channel wait; nothing was stored.

    Attributes:
        limit: how many may.
    """

    code = "channel_backlog_full"

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} messages of this channel wait already")
        self.limit = limit
