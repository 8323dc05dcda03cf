"""Requests that wait for news of a task."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Literal

from core.clock import boot_ms
from core.ids import TaskId, WorkspaceId
from events import kinds
from events.envelope import Envelope
from events.errors import SubscriptionEvicted
from events.hub import EventHub
from web.relay import HEARTBEAT_S, ClientSocket, has_left

MAX_WAITING = 1024

_MOVES = (kinds.TASK_QUEUED, kinds.TASK_RUNNING, kinds.TASK_CANCELLED)  # by which others come nearer or not


class TaskWatch:
    """Lets requests wait on the events that the process follows anyway; nothing is polled."""

    def __init__(self, hub: EventHub, *, look_s: float = HEARTBEAT_S, most: int = MAX_WAITING) -> None:
        """Bind the events.

        Args:
            look_s: how often it is looked whether the client is still there, seconds.
            most: how many requests may wait at once.
        """
        self._hub = hub
        self._look_s = look_s
        self._most = most
        self._waiting = 0

    @contextmanager
    def place(self) -> Iterator[bool]:
        """Have a place among those who wait for as long as the body lasts; False if there is none left.

        Take it before anything is looked up: a crowd that comes at once is kept to the limit, too.
        """
        has_place = self._waiting < self._most
        self._waiting += has_place
        try:
            yield has_place
        finally:
            self._waiting -= has_place

    def news(
        self,
        workspace: WorkspaceId,
        task: TaskId,
        *,
        wait_s: float,
        with_place: bool = False,
        client: ClientSocket | None = None,
    ) -> Generator[Literal[True], None, None]:
        """Say when the task's record is worth a look: at once, at each of its events, when the time is up.

        Ends early when the server stops or the client leaves. Close it when the news have come.

        Args:
            with_place: whether it is news, too, that the task's place in the lane may be another.
            client: the caller's socket, watched for its end; None when the server does not tell.

        Raises:
            StorageUnavailable, StorageFull: the events can't be followed.
        """
        ends_ms = boot_ms() + int(wait_s * 1000)
        with self._hub.open(workspace, after=None, epoch=None) as subscription:
            yield True  # what happened before there was somebody to hear it
            while not self._hub.is_closed and not has_left(client):
                left_s = (ends_ms - boot_ms()) / 1000
                if left_s <= 0:
                    break
                try:
                    event = subscription.next(min(left_s, self._look_s))
                except SubscriptionEvicted:
                    break
                if event is not None and _may_concern(event, task, with_place=with_place):
                    yield True
        yield True  # not every change is an event


def _may_concern(event: Envelope, task: TaskId, *, with_place: bool) -> bool:
    """Whether an event is about the task, or says that such an event may have been missed."""
    is_about_the_stream = event.id is None and event.type != kinds.TASK_PROGRESS
    is_about_the_lane = with_place and event.type in _MOVES
    return is_about_the_stream or is_about_the_lane or f'"taskId":"{task}"' in event.data_json
