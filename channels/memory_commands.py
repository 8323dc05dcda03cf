"""``/remember``, ``/forget``, ``/dream``, ``/undo``: what people of a chat ask of a workspace's memory."""

import asyncio

from channels import replies
from channels.base import ChannelBase
from channels.envelope import Envelope
from channels.local_commands import CommandHandler
from channels.memory_lane import MemoryKind, MemoryLane, MemoryReport, MemoryRequest
from channels.sanitizing import quoted
from channels.timers import Timers
from channels.under_way import UnderWay
from core.errors import InputError, MemlaneError, StateError
from core.ids import new_uuid

PATIENCE_MS = 5_000
MAX_REASON_CHARACTERS = 300

WORKING = "Working on it…"
UNCERTAIN = "It is not known whether that was taken: {reason}"
USAGE: dict[MemoryKind, str] = {
    "remember": "Say what to remember: /remember <text>",
    "forget": "Say what to forget: /forget <text>",
    "dream": "",
    "undo": "Say which change to take back: /undo <revision>",
}


SUMMARIES: dict[MemoryKind, str] = {
    "remember": "have memory keep what follows",
    "forget": "have memory lose what follows",
    "dream": "tidy memory up",
    "undo": "take back the change of memory that follows, such as r7",
}


class MemoryCommands:
    """Puts requests into the memory lane and answers when they have ended."""

    def __init__(self, channel: ChannelBase, lane: MemoryLane, timers: Timers) -> None:
        self._channel = channel
        self._lane = lane
        self._timers = timers
        for kind, summary in SUMMARIES.items():
            channel.register_command(kind, self._handler(kind), summary=summary)

    def _handler(self, kind: MemoryKind) -> CommandHandler:
        async def ask(envelope: Envelope, rest: str) -> bool:
            await self._channel.reply(envelope, await self._outcome(kind, envelope, rest))
            return True

        return ask

    async def _outcome(self, kind: MemoryKind, envelope: Envelope, rest: str) -> str:
        if not self._channel.may_act(envelope):
            return replies.NOT_AUTHORIZED
        if USAGE[kind] and not rest:
            return USAGE[kind]
        request = MemoryRequest(kind, rest, _key_of(envelope, kind), envelope.target)
        saying = self._say_later(envelope)
        try:
            report = await self._lane.ask(request)
        except asyncio.CancelledError:
            saying.give_up()
            raise
        except (InputError, StateError) as error:
            return f"That was not taken: {quoted(str(error), MAX_REASON_CHARACTERS)}"
        except MemlaneError as error:
            return UNCERTAIN.format(reason=quoted(str(error), MAX_REASON_CHARACTERS))
        finally:
            await saying.call_off()
        if report.revision is not None:
            self._channel.forget_context()
        return _told(report)

    def _say_later(self, envelope: Envelope) -> "_Saying":
        return _Saying(self._channel, envelope, self._timers)


class _Saying:
    """Says that it takes a while, unless it was called off by then."""

    def __init__(self, channel: ChannelBase, envelope: Envelope, timers: Timers) -> None:
        self._task: asyncio.Task[None] | None = None
        saying = UnderWay()

        def say() -> None:
            self._task = saying.begin(channel.reply(envelope, WORKING, name="working"))

        self._call_off = timers.call_later(PATIENCE_MS, say)

    def give_up(self) -> None:
        """Say nothing more, not even what is being said."""
        if self._task is not None:
            self._task.cancel()

    async def call_off(self) -> None:
        """Say nothing any more; what is being said is said before this returns, unless it was given up."""
        self._call_off()
        if self._task is not None:
            await asyncio.wait({self._task})


def _key_of(envelope: Envelope, kind: MemoryKind) -> str:
    """The same message is the same request, also when it is handled once more."""
    name = envelope.message_id or (envelope.receipts[0] if envelope.receipts else new_uuid())
    return "\x1f".join((envelope.channel_name, envelope.chat_id, name, kind))


def _told(report: MemoryReport) -> str:
    if report.outcome != "completed":
        return replies.FAILED.format(reason=quoted(report.summary, MAX_REASON_CHARACTERS))
    if report.revision is None:
        return report.summary
    return f"{report.summary}\n\nTo take this back: /undo {report.revision}"
