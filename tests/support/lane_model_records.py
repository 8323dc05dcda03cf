"""What the lane model keeps about limits, requests and tasks."""

from dataclasses import dataclass

from core.ids import Kind
from jobs.tasks import Cause, EndStatus, Status
from tests.support.lane_model_moments import Moment


@dataclass(frozen=True)
class Caps:
    """The limits that lanes run with; small, so that they are reached."""

    pending: int = 4
    upkeep: int = 2
    records: int = 6
    attempts: int = 2
    lease_ms: int = 1_000
    ttl_ms: int = 61_007
    input_keep_ms: int = 13_007


@dataclass(frozen=True)
class Asked:
    """One request of a client."""

    task: str
    kind: Kind
    text: str
    client: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class Ending:
    """How a holder says that a run ended."""

    status: EndStatus
    code: str | None = None
    cause: Cause | None = None
    changed: bool = False


CANCELLED = Ending("cancelled", code="task_cancelled")


@dataclass
class ModelTask:
    """One record.

    Attributes:
        forgotten: its time to live is over; its id is listed until the next purge.
    """

    asked: Asked
    seq: int
    accepted_ms: Moment
    touched_ms: Moment
    status: Status = "queued"
    attempt: int = 0
    started_ms: Moment | None = None
    ended_ms: Moment | None = None
    code: str | None = None
    cancel_requested: bool = False
    handed_back: bool = False
    cause: Cause | None = None
    releases: int = 0
    released_since_ms: Moment = 0
    finishing_fence: Moment | None = None
    forgotten: bool = False
    input_forgotten: bool = False

    @property
    def id(self) -> str:
        return self.asked.task
