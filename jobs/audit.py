"""Who did what: a capped record of acts that deserve one, kept in Redis."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, cast

from core.ids import WorkspaceId
from core.keys import audit
from events.connect import storage_errors

if TYPE_CHECKING:
    import redis

ActOutcome = Literal["done", "refused"]
KEPT: Mapping[ActOutcome, int] = {"done": 10_000, "refused": 1_000}
MAX_TARGET_CHARS = 512

_CHUNK = 256
_PLACE = re.compile(r"[1-9][0-9]{0,14}-[0-9]{1,15}")  # before 0-0 there is nothing, and Redis refuses to look


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Something that somebody did, or tried.

    Attributes:
        token: name of the token.
        action: what was asked for.
        target: path that was asked, as it was sent; longer ones are cut.
        status: HTTP status of the answer.
        code: of the refusal, if it was one.
        workspace: None where it concerned none, or none that the token may know.
    """

    token: str
    action: str
    target: str
    status: int
    code: str | None = None
    workspace: WorkspaceId | None = None
    client_id: str | None = None
    request_id: str | None = None

    @property
    def outcome(self) -> ActOutcome:
        """Whether it was let happen."""
        return "done" if self.status < 400 else "refused"


@dataclass(frozen=True, slots=True)
class RecordedAct:
    """An act on record.

    Attributes:
        place: where it stands; older ones have smaller places.
        at_ms: when, milliseconds since the epoch by the server's clock.
    """

    place: str
    at_ms: int
    act: Act


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Some acts, newest first; ``next_cursor`` is None at the end."""

    acts: tuple[RecordedAct, ...]
    next_cursor: str | None


class Audit:
    """The record. What was refused is kept apart, so that no crowd of refusals drives out what was done."""

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client

    def record(self, act: Act) -> None:
        """Write an act down; the oldest go, beyond 10,000 that were done and 1,000 that were refused.

        Raises:
            StorageUnavailable: no answer; it may or may not be on record, a repeat may double it.
            StorageFull: it is not on record.
        """
        fields = cast("dict[Any, Any]", _to_fields(act))
        with storage_errors():
            self._redis.xadd(audit(act.outcome), fields, maxlen=KEPT[act.outcome])

    def page(
        self,
        outcome: ActOutcome,
        *,
        limit: int,
        cursor: str | None = None,
        accepts: Callable[[Act], bool] = lambda _act: True,
    ) -> AuditPage:
        """List acts, newest first.

        Args:
            cursor: ``next_cursor`` of the page before; see ``is_cursor``.
            accepts: which are wanted.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        wanted = (one for one in self._recorded(outcome, cursor) if accepts(one.act))
        found = list(islice(wanted, limit + 1))
        page = tuple(found[:limit])
        return AuditPage(page, page[-1].place if len(found) > limit else None)

    def _recorded(self, outcome: ActOutcome, cursor: str | None) -> Iterator[RecordedAct]:
        below = "+" if cursor is None else f"({cursor}"
        while True:
            with storage_errors():
                rows = cast("list[Any]", self._redis.xrevrange(audit(outcome), max=below, count=_CHUNK))
            yield from (_from_row(place, fields) for place, fields in rows)
            if len(rows) < _CHUNK:
                return
            below = f"({rows[-1][0]}"


def is_cursor(text: str) -> bool:
    """Whether a text has the shape of a cursor."""
    return _PLACE.fullmatch(text) is not None


def _to_fields(act: Act) -> dict[str, str]:
    fields = {
        "token": act.token,
        "action": act.action,
        "target": act.target[:MAX_TARGET_CHARS],
        "status": str(act.status),
        "code": act.code,
        "workspaceId": act.workspace,
        "clientId": act.client_id,
        "requestId": act.request_id,
    }
    return {name: text for name, text in fields.items() if text is not None}


def _from_row(place: str, fields: Mapping[str, str]) -> RecordedAct:
    workspace = fields.get("workspaceId")
    act = Act(
        token=fields["token"],
        action=fields["action"],
        target=fields["target"],
        status=int(fields["status"]),
        code=fields.get("code"),
        workspace=None if workspace is None else WorkspaceId(workspace),
        client_id=fields.get("clientId"),
        request_id=fields.get("requestId"),
    )
    return RecordedAct(place, int(place.partition("-")[0]), act)
