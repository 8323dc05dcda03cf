"""How far a reader of events has come."""

from dataclasses import dataclass
from typing import Final

from memlane.models import Event

EPOCH: Final = "X-Qwen-Event-Epoch"
_RESYNC = "state_resync_required"


@dataclass(slots=True)
class Position:
    """Where an event stream goes on after it was lost.

    Attributes:
        last_id: id of the last event read; None before the first.
        epoch: the log that ``last_id`` belongs to, as the service named it; None if that is not known.
        is_connected: whether the service has answered at least once.
        losses: times in a row that the service could not be reached.
    """

    last_id: int | None = None
    epoch: str | None = None
    is_connected: bool = False
    losses: int = 0

    def headers(self) -> dict[str, str]:
        """What to send to go on from here."""
        known = {"Last-Event-ID": self.last_id, EPOCH: self.epoch if self.last_id is not None else None}
        return {name: str(value) for name, value in known.items() if value is not None}

    def begin(self, epoch: str | None) -> None:
        """Note that the service has answered, with events of this log."""
        self.is_connected = True
        self.losses = 0
        self.epoch = epoch

    def advance(self, event: Event) -> None:
        """Note an event that was read."""
        if event.type == _RESYNC:
            # what follows is all that the log has, which may be another log than the stream began with
            self.last_id, self.epoch = 0, None
        elif event.id is not None:
            self.last_id = event.id
