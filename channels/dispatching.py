"""What becomes of a message to a session: its own turn, or part of another."""

from collections.abc import Awaitable, Callable, Sequence

from channels import replies
from channels.cancelling import Canceller
from channels.envelope import Attachment, Envelope
from channels.sanitizing import error_text, sender_name
from channels.session_line import Buffered, SessionLine
from channels.turn import NOTHING, Said, Turn
from channels.turn_run import QueuedTurn, TurnRunner
from channels.turn_text import TurnText
from channels.under_way import UnderWay
from channels.workings import Workings
from core.logs import get_logger

STEER_LOOK_MS = 3_000

_log = get_logger(__name__)


class Dispatcher:
    """Queues turns, steers and collects; design page "Channel layer", 2.7."""

    def __init__(self, workings: Workings, canceller: Canceller, runner: TurnRunner) -> None:
        self._workings = workings
        self._canceller = canceller
        self._runner = runner

    async def dispatch(
        self, line: SessionLine, envelope: Envelope, turn: TurnText, *, is_command: bool
    ) -> None:
        """Have a message answered; returns when its own turn has ended, at once when it joins others.

        Raises:
            Exception: what its own turn raised.
        """
        said, active = Said(turn.text, turn.images), line.active
        if active is not None:
            mode = self._workings.config.dispatch_mode_in(envelope.chat_id, is_group=envelope.is_group)
            if mode == "collect":
                await self._collect(line, Buffered(turn.text, envelope, turn.images))
                return
            is_unheard = not (active.has_asked or active.is_cancelled)
            if mode == "steer" and self._steers(line, active, envelope):
                said = _in_place_of(active.said if is_unheard else NOTHING, said)
                envelope = _carrying(active, envelope) if is_unheard else envelope
        queued = QueuedTurn(envelope, said, generation=line.generation, is_command=is_command)
        try:
            await line.enqueue(lambda: self._runner.run(line, queued))
        finally:
            self._workings.drop_unused_line(line.session_id)

    async def _collect(self, line: SessionLine, message: Buffered) -> None:
        if line.has_room(message.text):
            line.buffer.append(message)
            return
        await self._workings.deliverer.reply(message.envelope, replies.BUSY, name="busy")
        await self._workings.settler.settle(message.envelope.receipts, "dropped")

    def _steers(self, line: SessionLine, active: Turn, envelope: Envelope) -> bool:
        """Cancel the turn that runs for a newer message; tells whether that was done, now or before."""
        if active.is_committed:  # its answer is on its way: both get one
            return False
        who = sender_name(envelope.sender_name)
        if not self._workings.may_act(envelope):
            _log.info(f"steer denied for {who}; queuing instead", session=active.session_id)
            return False
        self._canceller.at_once(active, "steer")
        self._look_after(line, active)
        return True

    def _look_after(self, line: SessionLine, active: Turn) -> None:
        def look() -> None:
            if line.active is active:
                _log.warning(f"steer queued behind active turn for session {active.session_id}")

        line.disarm()
        line.disarm_steer_timer = self._workings.parts.timers.call_later(STEER_LOOK_MS, look)


def _in_place_of(unheard: Said, said: Said) -> Said:
    """What is said after a turn that it cancelled, of which the agent may not have heard yet."""
    parts = (unheard.text, replies.STEER_NOTE, said.text)
    return Said("\n\n".join(part for part in parts if part), (*unheard.images, *said.images))


def _carrying(unheard: Turn, envelope: Envelope) -> Envelope:
    """A message that stands for those of a turn as well, which are not done with before it is."""
    unheard.is_carried = True
    return envelope.model_copy(update={"receipts": (*envelope.receipts, *unheard.envelope.receipts)})


class Collected:
    """Hands what was collected during a turn to the inbound flow, as one message a chat."""

    def __init__(
        self,
        re_enter: Callable[[Envelope], Awaitable[None]],
        *,
        tell_failure: Callable[[Envelope, Exception], Awaitable[None]],
    ) -> None:
        self._re_enter = re_enter
        self._tell_failure = tell_failure
        self._under_way = UnderWay()

    def drain(self, line: SessionLine) -> None:
        """Have it answered; nobody waits for that."""
        by_chat: dict[tuple[str, str | None], list[Buffered]] = {}
        for message in line.take_buffer():
            envelope = message.envelope
            by_chat.setdefault((envelope.chat_id, envelope.thread_id), []).append(message)
        for messages in by_chat.values():
            self._under_way.begin(self._enter(line.session_id, messages))

    async def close(self) -> None:
        """Give up what is under way, as when the process ends."""
        await self._under_way.wind_up(limit_s=0)

    async def _enter(self, session_id: str, messages: Sequence[Buffered]) -> None:
        merged = _merged(messages)
        try:
            await self._re_enter(merged)
        except Exception as error:  # noqa: BLE001 - the outermost frame of a message
            _log.warning(
                f"lost {len(messages)} collected message(s)",
                session=session_id,
                sender=sender_name(merged.sender_name),
                reason=error_text(str(error)),
            )
            await self._tell_failure(merged, error)


def _merged(messages: Sequence[Buffered]) -> Envelope:
    """One message that stands for several; all pictures go along."""
    images = [image for one in messages for image in one.images]
    return messages[-1].envelope.model_copy(
        update={
            "text": "\n\n".join(one.text for one in messages),
            "already_prefixed": True,
            "referenced_text": None,
            "attachments": tuple(
                Attachment(type="image", mime_type=image.mime_type, data=image.data) for image in images
            ),
            "image_base64": None,
            "image_mime_type": None,
            "receipts": tuple(receipt for one in messages for receipt in one.envelope.receipts),
        }
    )
