"""An agent's request for permission, put to the people in the chat."""

import asyncio
from dataclasses import dataclass

from channels.base import ChannelBase
from channels.envelope import Envelope
from channels.local_commands import CommandHandler
from channels.sanitizing import quoted
from channels.timers import Timers, settled_within
from core.chat import PermissionKind, PermissionRequest
from core.ids import new_code

WAIT_MS = 300_000
CODE_CHARACTERS = 4
MAX_TITLE_CHARACTERS = 500

MENTION_IT = " and mention me, or reply to this message with it: I hear nothing else here."
UNKNOWN = "There is no such request, or it was answered already."
NOT_YOURS = "You are not authorized to answer that."
DONE = {"allow_once": "Approved.", "reject_once": "Denied."}


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A request that was put to a chat.

    Attributes:
        asked_in: the message whose turn it is.
        verdict: gets the kind of the answer.
    """

    asked_in: Envelope
    verdict: "asyncio.Future[PermissionKind]"


class PermissionRelay:
    """Asks in the chat of the turn, takes ``/approve`` and ``/deny`` there. For one event loop.

    Who may answer: in a private chat the person whose turn it is; where several talk those who are listed,
    and if nobody is, that person.
    """

    def __init__(self, channel: ChannelBase, timers: Timers) -> None:
        self._channel = channel
        self._timers = timers
        self._waiting: dict[str, _Waiting] = {}
        channel.register_command(
            "approve", self._handler("allow_once"), summary="allow what the agent asks for"
        )
        channel.register_command("deny", self._handler("reject_once"), summary="refuse it")

    async def decide(self, request: PermissionRequest) -> str | None:
        """Have the people decide; the id of what they chose, None if nobody answered within five minutes.

        A permission that would outlast this one use is never given.
        """
        asked_in = self._channel.active_message(request.session_id)
        if asked_in is None:
            return None
        code = self._unused_code()
        waiting = _Waiting(asked_in, asyncio.get_running_loop().create_future())
        self._waiting[code] = waiting
        try:
            await self._channel.reply(asked_in, self._question(request, asked_in, code=code))
            if not await settled_within(waiting.verdict, WAIT_MS, self._timers):
                return None
        finally:
            del self._waiting[code]
        kind = waiting.verdict.result()
        return next((option.id for option in request.options if option.kind == kind), None)

    def _unused_code(self) -> str:
        while True:
            code = new_code(CODE_CHARACTERS)
            if code not in self._waiting:
                return code

    def _question(self, request: PermissionRequest, asked_in: Envelope, *, code: str) -> str:
        what = quoted(request.call.title or request.call.kind or "a tool", MAX_TITLE_CHARACTERS)
        asks = f'The agent asks for permission: "{what}". Answer /approve {code} or /deny {code}'
        is_deaf = asked_in.is_group and self._channel.config.group(asked_in.chat_id).require_mention
        return f"{asks}{MENTION_IT}" if is_deaf else asks

    def _handler(self, kind: PermissionKind) -> CommandHandler:
        async def answer(envelope: Envelope, rest: str) -> bool:
            await self._channel.reply(envelope, self._answer(envelope, rest.upper(), kind))
            return True

        return answer

    def _answer(self, envelope: Envelope, code: str, kind: PermissionKind) -> str:
        waiting = self._waiting.get(code)
        if waiting is None or waiting.asked_in.chat_id != envelope.chat_id or waiting.verdict.done():
            return UNKNOWN
        if not self._may_answer(waiting.asked_in, envelope):
            return NOT_YOURS
        waiting.verdict.set_result(kind)
        return DONE[kind]

    def _may_answer(self, asked_in: Envelope, envelope: Envelope) -> bool:
        config = self._channel.config
        is_private = not asked_in.is_group and not config.is_shared(is_group=False)
        if is_private or not config.allowed_users:
            return envelope.sender_id == asked_in.sender_id
        return envelope.sender_id in config.allowed_users
