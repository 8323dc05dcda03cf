"""The channel of ``soak`` as a state machine: what may happen, and what holds after each step.

Everything may happen at any time, what finds nothing to do included: which prompts wait depends on the order
in which tasks are woken, and no two runs may differ in what they draw.
"""

import asyncio

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from channels.config import DispatchMode
from tests.support.channels.soak import World, faults

CHAT = st.integers(0, 2)
CHOICE = st.integers(0, 1_000)


def machine_of(redis_url: str, mode: DispatchMode) -> type[RuleBasedStateMachine]:
    """The machine of one dispatch mode."""
    return type("ChannelMachine", (_ChannelMachine,), {"redis_url": redis_url, "mode": mode})


class _ChannelMachine(RuleBasedStateMachine):
    redis_url: str
    mode: DispatchMode

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.world = World(self.redis_url, self.mode)
        self.loop.run_until_complete(self.world.begin())

    def _act(self, action: str, chat: int = 0, choice: int = 0) -> None:
        self.loop.run_until_complete(self.world.act(action, chat, choice))

    @rule(chat=CHAT)
    def somebody_writes(self, chat: int) -> None:
        self._act("say", chat)

    @rule(chat=CHAT)
    def somebody_writes_in_haste(self, chat: int) -> None:
        self._act("hurry", chat)

    @rule(chat=CHAT, choice=CHOICE)
    def three_messages_come_at_once(self, chat: int, choice: int) -> None:
        self._act("burst", chat, choice)

    @rule(choice=CHOICE)
    def the_chat_service_repeats_a_message(self, choice: int) -> None:
        self._act("repeat", choice=choice)

    @rule(choice=CHOICE)
    def the_agent_answers(self, choice: int) -> None:
        self._act("answer", choice=choice)

    @rule(choice=CHOICE)
    def the_agent_fails(self, choice: int) -> None:
        self._act("fail", choice=choice)

    @rule(choice=CHOICE)
    def a_session_dies(self, choice: int) -> None:
        self._act("die", choice=choice)

    @rule(chat=CHAT)
    def somebody_cancels(self, chat: int) -> None:
        self._act("cancel", chat)

    @rule(chat=CHAT)
    def somebody_clears(self, chat: int) -> None:
        self._act("clear", chat)

    @rule()
    def time_passes(self) -> None:
        self._act("wait")

    @rule()
    def the_process_is_replaced(self) -> None:
        self._act("restart")

    @rule(choice=CHOICE)
    def the_process_sleeps_while_another_is_given_the_channel(self, choice: int) -> None:
        self._act("sleep", choice=choice)

    @invariant()
    def a_session_has_one_prompt_at_a_time(self) -> None:
        assert self.world.bridge.most_prompts_at_once <= 1

    @invariant()
    def no_message_is_asked_twice(self) -> None:
        assert self.world.asked_twice() == []

    def teardown(self) -> None:
        """What was promised holds once all that waits was answered."""
        self.loop.run_until_complete(self.world.finish())
        self.loop.close()
        found = faults(self.world)
        assert not found, f"{found}; play {self.world.acted}"
