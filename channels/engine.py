"""The machinery of one channel, put together; see ``ChannelBase`` for what it does."""

from collections.abc import Callable
from typing import Protocol

from channels import replies
from channels.bridge import AgentBridge
from channels.cancelling import Canceller
from channels.clearing import WEDGED_MS, Clearer
from channels.command_text import first_token, is_command_shaped, parse_command
from channels.config import ChannelConfig
from channels.delivering import ChatService, Deliverer
from channels.dispatching import Collected, Dispatcher
from channels.envelope import Envelope
from channels.errors import TurnCalledOff
from channels.gating import group_verdict, sender_verdict
from channels.group_history import GroupHistory
from channels.hooks import Hooks
from channels.identity import identity_of, memory_scope_of
from channels.local_commands import LocalCommands
from channels.observing import Observer
from channels.parts import ChannelParts
from channels.recovery import Recovery
from channels.router import Router
from channels.session_line import SessionLines
from channels.settling import Settler
from channels.timers import settled_within
from channels.turn import Turn
from channels.turn_run import TurnRunner
from channels.turn_text import render_turn
from channels.under_way import UnderWay
from channels.workings import Workings
from core.chat import ToolCall
from core.errors import MemlaneError
from core.logs import get_logger

_log = get_logger(__name__)


class Adapter(Hooks, ChatService, Protocol):
    """What the machinery calls of an adapter."""


def assemble(
    config: ChannelConfig, adapter: Adapter, *, bridge: Callable[[], AgentBridge], parts: ChannelParts
) -> "Engine":
    """Put the machinery of a channel together.

    Args:
        bridge: gives the bridge of the moment.
    """
    identity, memory_scope = identity_of(config), memory_scope_of(config)
    deliverer, lines = Deliverer(adapter, parts.outbox), SessionLines()
    workings = Workings(
        config=config,
        identity=identity,
        memory_scope=memory_scope,
        hooks=adapter,
        bridge=bridge,
        parts=parts,
        observer=Observer(adapter, channel=config.name, identity=identity, memory_scope=memory_scope),
        deliverer=deliverer,
        settler=Settler(parts.ledger),
        router=Router(config, bridge=bridge, store=parts.routes, on_too_many=lines.drop_if_idle),
        lines=lines,
        history=GroupHistory(),
    )
    return Engine(workings)


class Engine:
    """Takes messages in and sees each through to its end. For one event loop."""

    def __init__(self, workings: Workings) -> None:
        """Use ``assemble`` instead."""
        self.workings = workings
        self._canceller = Canceller(workings, on_overdue=self._expire_soon)
        self._clearer = Clearer(workings, self._canceller)
        commands = LocalCommands(workings, self._canceller, self._clearer)
        self.commands = commands.table
        self._collected = Collected(self.enter, tell_failure=self.tell_failure)
        runner = TurnRunner(
            workings,
            self._canceller,
            on_end=self._collected.drain,
            re_route=self.enter,
        )
        self.output = runner.output
        self._dispatcher = Dispatcher(workings, self._canceller, runner)
        self._expiring = UnderWay()
        self._recovery = Recovery(workings)

    async def recover(self) -> None:
        """Go on where an earlier process stopped, see ``ChannelBase.recover``."""
        await self.workings.router.restore()
        await self._recovery.begin()

    async def handle(self, envelope: Envelope) -> None:
        """Take a message in, see ``ChannelBase.handle_inbound``."""
        if not await self._recovery.lets_in(envelope):
            return
        if not await self._is_admitted(envelope):
            await self.workings.settler.settle(envelope.receipts, "dropped")
        elif await self._is_answered_here(envelope):
            await self.workings.settler.settle(envelope.receipts, "local")
        else:
            await self.enter(envelope)

    async def enter(self, envelope: Envelope) -> None:
        """Have a message answered that was let in."""
        works = self.workings
        session_id = await works.router.resolve(envelope)
        line = works.lines.of(session_id)
        is_command = self._is_recognized(envelope, session_id)
        turn = render_turn(envelope, config=works.config, is_recognized=is_command)
        if not turn.text.strip() and not turn.images:  # nothing that an agent could answer
            await works.settler.settle(envelope.receipts, "dropped")
            return
        await self._dispatcher.dispatch(line, envelope, turn, is_command=is_command)

    async def tell_failure(self, envelope: Envelope, error: Exception) -> None:
        """Say that a message came to nothing, see ``ChannelBase.tell_failure``."""
        try:
            if not isinstance(error, TurnCalledOff):
                await self.workings.deliverer.reply(envelope, replies.failure_text(error), name="failed")
            await self.workings.settler.settle(envelope.receipts, "failed")
        except MemlaneError as lost:  # the channel is another process's now, which tells it
            _log.warning("channel_failure_not_told", channel=envelope.channel_name, reason=lost.code)

    async def finish(self) -> None:
        """Give up what nobody waits for, and wait for what is still to be noted or told, but not long."""
        grace_s = self.workings.parts.grace_s
        await self._recovery.close()
        await self._collected.close()
        await self._expiring.wind_up(limit_s=0)
        await self.workings.settler.finish(limit_s=grace_s)
        await self.workings.observer.finish(limit_s=grace_s)

    def text_chunk(self, session_id: str, chunk: str) -> None:
        """Turns listen for themselves."""

    def tool_call(self, session_id: str, call: ToolCall) -> None:
        """Tell who observes that the agent uses a tool."""
        works = self.workings
        route = works.router.route_of(session_id)
        turn = works.lines.active_turn(session_id)
        if route is not None or turn is not None:
            chat_id = route.target.chat_id if route is not None else ""
            works.observer.tool_call(turn, call, session_id=session_id, chat_id=chat_id)

    def session_died(self, session_id: str) -> None:
        """Route nobody there any more, what waits there neither; a prompt that runs raises by itself."""
        self.workings.router.forget(session_id)
        line = self.workings.lines.find(session_id)
        if line is not None:
            line.retire()
            self.workings.lines.drop_if_idle(session_id)

    async def _is_admitted(self, envelope: Envelope) -> bool:
        works = self.workings
        verdict = group_verdict(works.config, envelope)
        if verdict == "remember":
            works.history.remember(envelope, limit=works.config.history_limit_in(envelope.chat_id))
        if verdict != "pass":
            return False
        sender = sender_verdict(works.config, envelope, works.parts.pairing)
        if sender.reply is not None:
            await works.deliverer.reply(envelope, sender.reply)
        return sender.passes

    async def _is_answered_here(self, envelope: Envelope) -> bool:
        command = parse_command(envelope.text)
        handler = self.commands.handlers.get(command.name) if command is not None else None
        return handler is not None and command is not None and await handler(envelope, command.rest)

    def _is_recognized(self, envelope: Envelope, session_id: str) -> bool:
        """Whether a message is a command, ours or the agent's, that has to reach the agent as it is."""
        if not is_command_shaped(envelope.text):
            return False
        command, token = parse_command(envelope.text), first_token(envelope.text)
        if command is not None and command.name in self.commands.handlers:
            return True
        return any(token in (one.name, *one.aliases) for one in self.workings.bridge().commands(session_id))

    def _expire_soon(self, turn: Turn) -> None:
        self._expiring.begin(self._expire(turn))

    async def _expire(self, turn: Turn) -> None:
        """Cancel a turn whose time is up; a session that does not come to an end by that is given up."""
        if not await self._canceller.by_timeout(turn):
            return
        if turn.cancel_reason == "timeout":
            await self.workings.deliverer.reply(turn.envelope, replies.TIMED_OUT, name="timeout")
        if not await settled_within(turn.done, WEDGED_MS, self.workings.parts.timers):
            await self._retire(turn)

    async def _retire(self, turn: Turn) -> None:
        """Route nobody to a wedged turn's session any more; what waits there gets another one."""
        self.workings.router.forget(turn.session_id)
        line = self.workings.lines.of(turn.session_id)
        line.retire()
        self._clearer.evict(turn)
        await self.workings.router.save()
