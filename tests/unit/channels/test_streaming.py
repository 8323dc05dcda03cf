"""Answers in blocks: design page "Channel layer", 2.9."""

import asyncio

import pytest

from channels.config import BlockStreaming
from channels.streamer import BlockStreamer
from tests.support.channels.scene import HandTimers, settle


def streamer(limits=None, *, fails_at=None):
    sent: list[str] = []
    timers = HandTimers()

    async def send(block):
        if len(sent) == fails_at:
            raise ValueError(block)
        await asyncio.sleep(0)
        sent.append(block)

    return BlockStreamer(limits or BlockStreaming(5, 10, 100), send=send, timers=timers), sent, timers


async def test_blocks_are_sent_in_order_and_the_rest_at_the_end():
    stream, sent, _ = streamer()
    stream.push("one\n\ntwo two two\n\nrest")
    await stream.flush()

    assert sent == ["one", "two two", "two", "rest"]


async def test_what_stands_still_is_sent_after_a_pause_if_it_is_long_enough():
    stream, sent, timers = streamer()
    stream.push("abcd")
    timers.pass_ms(100)
    await settle()
    assert sent == []
    stream.push("efg")
    timers.pass_ms(99)
    await settle()
    assert sent == []
    timers.pass_ms(1)
    await settle()

    assert sent == ["abcdefg"]


async def test_without_a_pause_nothing_is_sent_by_time():
    stream, sent, timers = streamer(BlockStreaming(1, 100, 0))
    stream.push("abcdefg")
    timers.pass_ms(100_000)
    await settle()

    assert sent == []


async def test_blank_blocks_are_not_sent():
    stream, sent, _ = streamer()
    stream.push("\n\n  \n\n      \n\n")
    await stream.flush()

    assert sent == []


async def test_after_stop_nothing_more_is_sent():
    stream, sent, timers = streamer()
    stream.push("abc")
    stream.stop()
    stream.push("def\n\nghijklmnop")
    timers.pass_ms(1000)
    await stream.flush()

    assert sent == []


async def test_the_first_error_is_raised_at_the_end_and_nothing_is_sent_after_it():
    stream, sent, _ = streamer(fails_at=1)
    stream.push("one one\n\ntwo two\n\nthree")
    with pytest.raises(ValueError, match="two two"):
        await stream.flush()

    assert sent == ["one one"]


async def test_a_long_line_is_cut_to_blocks():
    stream, sent, _ = streamer()
    stream.push("x" * 35)
    await stream.flush()

    assert sent == ["x" * 10, "x" * 10, "x" * 10, "x" * 5]
