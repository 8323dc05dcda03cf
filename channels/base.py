"""What every adapter is made of: it brings messages in and takes answers out, the base does the rest."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from channels.bridge import AgentBridge
from channels.config import ChannelConfig
from channels.engine import assemble
from channels.envelope import Envelope
from channels.health import ChannelHealth
from channels.hooks import SilentHooks
from channels.identity import ChannelRuntimeIdentity, ChannelRuntimeMemoryScope
from channels.lifecycle import ChannelTaskLifecycleEvent
from channels.local_commands import CommandHandler
from channels.parts import ChannelParts
from core.clock import wall_ms


class ChannelBase(SilentHooks, ABC):
    """One channel. An adapter derives from it, and gives it to ``handle_inbound`` what people write.

    For one event loop. The hooks ``on_…`` may be overridden, as sync or async functions; nobody waits for an
    async one but for ``on_response_complete``, and what one raises is logged.

    Attributes:
        config: what was configured.
    """

    def __init__(self, config: ChannelConfig, *, bridge: AgentBridge, parts: ChannelParts) -> None:
        self.config = config
        self._bridge = bridge
        self._engine = assemble(config, self, bridge=lambda: self._bridge, parts=parts)
        self._stop_listening = bridge.subscribe(self._engine)
        self._health = ChannelHealth("connected", wall_ms())

    @property
    def health(self) -> ChannelHealth:
        """How it is with receiving messages; here nothing can keep them away."""
        return self._health

    @property
    def name(self) -> str:
        """The channel's name."""
        return self.config.name

    @property
    def identity(self) -> ChannelRuntimeIdentity:
        """Who the agent is here: the same object for as long as the channel lives."""
        return self._engine.workings.identity

    @property
    def memory_scope(self) -> ChannelRuntimeMemoryScope:
        """What memory the channel is labelled with: the same object for as long as the channel lives."""
        return self._engine.workings.memory_scope

    def set_bridge(self, bridge: AgentBridge) -> None:
        """Use another bridge from now on; turns that run keep theirs."""
        self._stop_listening()
        self._bridge = bridge
        self._stop_listening = bridge.subscribe(self._engine)

    def register_command(self, name: str, handler: CommandHandler, *, summary: str = "") -> None:
        """Answer a command here; one of the base's own is replaced.

        Args:
            name: without its slash; case does not matter.
            handler: gets the message and what follows the command. False lets the agent have it.
            summary: what /help says of it, a few words.
        """
        self._engine.commands.register(name, handler, summary=summary)

    async def handle_inbound(self, envelope: Envelope) -> None:
        """Do what a message asks for; returns when its own turn has ended.

        At once for one that is not for the agent, is answered here, or is collected while a turn runs.

        Raises:
            TurnCalledOff: its turn raised after it was cancelled.
            Exception: what its turn raised. Observers have been told by then, the chat has not.
        """
        await self._engine.handle(envelope)

    def observe(self, listener: Callable[[ChannelTaskLifecycleEvent], None]) -> None:
        """Have somebody told of turns beside the adapter's own hook; it must not block."""
        self._engine.workings.observer.listeners.append(listener)

    async def recover(self) -> None:
        """Once connected, before the first message: go on where an earlier process stopped.

        Sessions are routed to as before; from now on answers that were on their way are sent, turns that were
        cut off have failed and their chats are told so, in each chat before its next message is handled.
        """
        await self._engine.recover()

    async def close(self) -> None:
        """Listen no more to the agent, and wait for what is still to be noted, a few seconds each."""
        self._stop_listening()
        await self._engine.finish()

    async def reply(self, envelope: Envelope, text: str, *, name: str | None = None) -> None:
        """Say something to a message, beside its turn; handled a second time, nothing is said twice.

        Args:
            name: of what may be said or not, as it depends on time; replies without one are counted.
        """
        await self._engine.workings.deliverer.reply(envelope, text, name=name)

    def active_message(self, session_id: str) -> Envelope | None:
        """The message whose turn runs in a session; None while none does, or it was cancelled."""
        turn = self._engine.workings.lines.active_turn(session_id)
        return turn.envelope if turn is not None and not turn.is_cancelled else None

    def may_act(self, envelope: Envelope) -> bool:
        """Whether the sender may act on a message's session: anybody on their own, else who is listed."""
        return self._engine.workings.may_act(envelope)

    async def tell_failure(self, envelope: Envelope, error: Exception) -> None:
        """Say that a message came to nothing, unless it was called off; it is done with by that."""
        await self._engine.tell_failure(envelope, error)

    def forget_context(self) -> None:
        """Have every session told its context again before its next turn, as after memory changed."""
        self._engine.workings.lines.forget_context()

    @abstractmethod
    async def connect(self) -> None:
        """Begin to receive messages.

        Raises:
            MemlaneError: that is not possible now.
        """

    @abstractmethod
    async def disconnect(self) -> None:
        """Receive no more messages; answers can be sent until it is closed. Fine when it is not connected."""

    async def watch(self) -> None:
        """Wait until no more messages can be received, for as long as the channel is not connected anew.

        Raises:
            MemlaneError: why they can't; here that never happens.
        """
        await asyncio.Event().wait()

    @abstractmethod
    async def send_message(
        self, chat_id: str, text: str, *, thread_id: str | None = None, delivery_id: str | None = None
    ) -> str | None:
        """Send one message and return the chat service's id of it, if it gives any.

        Args:
            delivery_id: names the message for ever, for a service that knows by it what it took already.

        Raises:
            DeliveryFailed: it was not sent, whatever was tried.
        """

    def split_message(self, text: str) -> Sequence[str]:
        """Cut a message into such as the chat service takes; here it takes all."""
        return (text,)

    async def on_response_complete(self, chat_id: str, full_text: str, session_id: str) -> None:
        """Deliver an answer: as one message, in as many parts as the chat service needs.

        Raises:
            DeliveryFailed: not all of it could be sent.
        """
        turn = self._engine.workings.lines.active_turn(session_id)
        if turn is None:
            await self.send_message(chat_id, full_text)
        else:
            await self._engine.output.send(turn, [full_text])
