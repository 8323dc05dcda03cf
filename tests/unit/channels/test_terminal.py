"""A chat at the terminal."""

from channels.adapters.terminal.channel import TerminalChannel
from channels.config import ChannelConfig
from channels.memory_commands import MemoryCommands
from channels.memory_lane import MemoryReport
from channels.parts import ChannelParts
from tests.support.channels.scene import StubbornPairing
from tests.support.channels.scripted_bridge import ScriptedBridge


class Lane:
    def __init__(self):
        self.keys = []

    async def ask(self, request):
        self.keys.append(request.key)
        return MemoryReport("completed", f"did {request.text}")


async def talk(lane, line):
    config = ChannelConfig(name="terminal", type="terminal", cwd="/srv/work", sender_policy="open")
    written: list[str] = []
    parts = ChannelParts(pairing=StubbornPairing())
    channel = TerminalChannel(config, bridge=ScriptedBridge(), parts=parts, write=written.append)
    MemoryCommands(channel, lane, parts.timers)
    await channel.take_line(line, person="ann")
    await channel.close()
    return written


async def test_what_is_asked_first_in_one_chat_is_not_what_was_asked_first_in_the_last():
    lane = Lane()

    assert await talk(lane, "/remember tea") == ["did tea\n"]
    assert await talk(lane, "/remember coffee") == ["did coffee\n"]
    assert lane.keys[0] != lane.keys[1]
