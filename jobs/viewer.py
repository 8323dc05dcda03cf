"""Who looks at tasks, and which of them there are for it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who looks at tasks.

    Attributes:
        client_id: as which client; None for one that does not say.
        sees_all: whether the tasks of all clients are there for it, as for an operator.
    """

    client_id: str | None = None
    sees_all: bool = False

    def may_see(self, owner: str | None) -> bool:
        """Whether what a client owns is there for this viewer; what nobody owns is there for everybody."""
        return self.sees_all or owner in (None, self.client_id)


ANYBODY = Viewer()
"""One who does not say who it is: what is nobody's is there for it."""
