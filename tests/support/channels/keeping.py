"""How doors keep messages in tests: in a real store, unless a message says that it is away."""

from events.errors import StorageUnavailable
from memlane.channels.stores import put_message


def keeping_in(store):
    """A ``PutMessage`` that stores; for the text ``away`` there is no storage."""

    def put(envelope, keys):
        if envelope.text == "away":
            raise StorageUnavailable("no answer")
        return put_message(store, envelope, keys=keys)

    return put
