"""The commands that every channel answers by itself."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from channels import replies
from channels.cancelling import Canceller
from channels.clearing import Clearer
from channels.envelope import Envelope
from channels.workings import Workings

CommandHandler = Callable[[Envelope, str], Awaitable[bool]]
"""Gets a message and what follows the command; tells whether the message is done with by that."""


@dataclass(slots=True)
class CommandTable:
    """Handlers by name, in lower case.

    Attributes:
        extra: what /help says of commands beside those that every channel has; empty for the name alone.
    """

    handlers: dict[str, CommandHandler] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)

    def register(self, name: str, handler: CommandHandler, *, summary: str) -> None:
        """Add a command, or replace one."""
        self.handlers[name.lower()] = handler
        self.extra[name.lower()] = summary


class LocalCommands:
    """/help, /clear, /reset, /new, /who, /status and /cancel; design page "Channel layer", 2.4."""

    def __init__(self, workings: Workings, canceller: Canceller, clearer: Clearer) -> None:
        self._workings = workings
        self._canceller = canceller
        self._clearer = clearer
        self.table = CommandTable(dict(self._own()))

    def _own(self) -> Mapping[str, CommandHandler]:
        return {
            "help": self._help,
            "clear": self._if_authorized(self._clear),
            "reset": self._if_authorized(self._clear),
            "new": self._if_authorized(self._clear),
            "who": self._if_authorized(self._who),
            "status": self._if_authorized(self._status),
            "cancel": self._if_authorized(self._cancel),
        }

    def _if_authorized(self, handler: CommandHandler) -> CommandHandler:
        """The handler for who may act on the session of a message; others are told that they may not."""

        async def answer(envelope: Envelope, rest: str) -> bool:
            if not self._workings.may_act(envelope):
                return await self._reply(envelope, replies.NOT_AUTHORIZED)
            return await handler(envelope, rest)

        return answer

    async def _help(self, envelope: Envelope, _rest: str) -> bool:
        commands = self._workings.bridge().commands(self._workings.router.find(envelope))
        is_shared = self._workings.is_shared(envelope)
        return await self._reply(envelope, replies.help_text(self.table.extra, commands, is_shared=is_shared))

    async def _clear(self, envelope: Envelope, rest: str) -> bool:
        if self._workings.is_shared(envelope) and rest.lower() != "confirm":
            return await self._reply(envelope, replies.CONFIRM_CLEAR)
        was_there = await self._clearer.clear(envelope)
        return await self._reply(envelope, replies.CLEARED if was_there else replies.NO_SESSION)

    async def _who(self, envelope: Envelope, _rest: str) -> bool:
        text = replies.who_text(
            self._workings.config,
            envelope,
            identity=self._workings.identity,
            memory_scope=self._workings.memory_scope,
            is_active=self._workings.router.find(envelope) is not None,
        )
        return await self._reply(envelope, text)

    async def _status(self, envelope: Envelope, _rest: str) -> bool:
        text = replies.status_text(
            self._workings.config,
            identity=self._workings.identity,
            memory_scope=self._workings.memory_scope,
            is_active=self._workings.router.find(envelope) is not None,
        )
        return await self._reply(envelope, text)

    async def _cancel(self, envelope: Envelope, _rest: str) -> bool:
        session_id = self._workings.router.find(envelope)
        turn = self._workings.lines.active_turn(session_id) if session_id is not None else None
        if turn is None:
            return await self._reply(envelope, replies.NOTHING_RUNS)
        is_cancelled = await self._canceller.by_command(turn)
        return await self._reply(envelope, replies.CANCELLED if is_cancelled else replies.NOT_CANCELLED)

    async def _reply(self, envelope: Envelope, text: str) -> bool:
        await self._workings.deliverer.reply(envelope, text)
        return True
