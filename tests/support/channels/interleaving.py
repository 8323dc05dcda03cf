"""A channel whose messages, chunks, verdicts and timers come in any order, at any step of the event loop."""

import asyncio
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from channels.lifecycle import TERMINAL_TYPES
from tests.support.channels.scene import Scene, scene, settle
from tests.support.channels.scripted_bridge import AgentFailure
from tests.support.channels.slow_stores import SlowLedger, SlowOutbox

CHATS = ("c1", "c1", "c2")
DEADLINE_MS = 600_000
INSTRUCTIONS = "Be brief."
MOST_ROUNDS = 60


@dataclass
class Interleaving:
    """A channel on slow stores, whose agent has to be told what to say to each cancellation."""

    chat: Scene
    calls: list[asyncio.Task[None]] = field(default_factory=list)

    async def act(self, action, choice, *, steps):
        """Have something happen, and let so many steps of the event loop pass."""
        getattr(self, f"do_{action}")(choice)
        for _ in range(steps):
            await asyncio.sleep(0)

    def do_say(self, choice):
        self._hand_in(f"message {len(self.calls)}", choice)

    def do_cancel(self, choice):
        self._hand_in("/cancel", choice)

    def do_clear(self, choice):
        self._hand_in("/clear", choice)

    def do_answer(self, choice):
        for prompt in self._one(self._waiting(), choice):
            prompt.answer.set_result("an answer\n\nin two paragraphs" if choice % 4 else "")

    def do_fail(self, choice):
        for prompt in self._one(self._waiting(), choice):
            prompt.answer.set_exception(AgentFailure("broken"))

    def do_die(self, choice):
        for prompt in self._one(self._waiting(), choice):
            self.chat.bridge.die(prompt.session_id)

    def do_write(self, choice):
        for prompt in self._one(self._waiting(), choice):
            self.chat.bridge.write("an answer\n\nin two", session_id=prompt.session_id)

    def do_use_tool(self, choice):
        for prompt in self._one(self.chat.bridge.prompts, choice):
            self.chat.bridge.use_tool(session_id=prompt.session_id)

    def do_accept(self, choice):
        for verdict in self._one(self._verdicts(), choice):
            verdict.set_result(None)

    def do_reject(self, choice):
        for verdict in self._one(self._verdicts(), choice):
            verdict.set_exception(AgentFailure("not now"))

    def do_refuse(self, _choice):
        self.chat.channel.refuses += 1

    def do_wait(self, choice):
        self.chat.timers.pass_ms((100, 1_500, 3_000, 5_000)[choice % 4])

    def do_expire(self, _choice):
        self.chat.timers.pass_ms(DEADLINE_MS)

    async def finish(self):
        """Answer all that waits until nothing does."""
        for _ in range(MOST_ROUNDS):
            await settle()
            if all(call.done() for call in self.calls) and not self._waiting():
                return
            for verdict in self._verdicts():
                verdict.set_result(None)
            for prompt in self._waiting():
                prompt.answer.set_result("the end")
            await settle()
            self.chat.timers.pass_ms(3_000)

    def _hand_in(self, text, choice):
        message = self.chat.message(text, chat_id=CHATS[choice % len(CHATS)])
        call = asyncio.create_task(self.chat.channel.handle_inbound(message))
        call.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.calls.append(call)

    def _waiting(self):
        return [prompt for prompt in self.chat.bridge.prompts if not prompt.answer.done()]

    def _verdicts(self):
        return [verdict for verdict in self.chat.bridge.verdicts or () if not verdict.done()]

    @staticmethod
    def _one(among, choice):
        return [among[choice % len(among)]] if among else []


def faults(world):
    """What is not as promised; empty when all is well."""
    log, lines = Counter(world.chat.log), world.chat.channel._engine.workings.lines._by_id
    found = [
        *_about_turns(world.chat.channel.events),
        *_about_sessions(world.chat.bridge.prompts),
    ]
    if not all(call.done() for call in world.calls):
        found.append("a call that does not return")
    if world.chat.bridge.most_prompts_at_once > 1:
        found.append("two prompts of a session at once")
    if not log["started"] == log["start hook"] == log["end hook"]:
        found.append(f"{log['started']} started, {log['start hook']} begun, {log['end hook']} ended")
    if any(line.active or line.buffer for line in lines.values()):
        found.append("a session that waits for nothing")
    return found


def _about_turns(events):
    by_message = defaultdict(list)
    for event in events:
        by_message[event.message_id].append(event.type)
    for message_id, types in by_message.items():
        is_whole = types[0] == "started" and types[-1] in TERMINAL_TYPES
        if not is_whole or sum(one in TERMINAL_TYPES or one == "started" for one in types) != 2:
            yield f"{message_id}: {types}"


def _about_sessions(prompts):
    first: dict[str, str] = {}
    for prompt in prompts:
        first.setdefault(prompt.session_id, prompt.text)
    return [text for text in first.values() if not text.startswith(INSTRUCTIONS)]


def play(actions, **config):
    """Have a list of actions happen; what is not as promised afterwards."""

    async def run():
        chat = scene(instructions=INSTRUCTIONS, **config)
        chat.bridge.verdicts = []
        chat.ledger, chat.outbox = SlowLedger(), SlowOutbox()
        chat.open()
        world = Interleaving(chat)
        for action, choice, steps in actions:
            await world.act(action, choice, steps=steps)
        await world.finish()
        left = [*await chat.ledger.unfinished(), *await chat.outbox.unsent()]
        return [*faults(world), *left]

    return asyncio.run(run())
