"""One list of event names: the constants, what the scripts write, what the page describes."""

import re
from pathlib import Path
from typing import get_args

from channels.lifecycle import ChannelTaskLifecycleEvent
from events import kinds
from jobs.tasks import EndStatus

ROOT = Path(__file__).parents[3]
NAMES = {value for name, value in vars(kinds).items() if name.isupper()}
ANNOUNCED = {name for name in NAMES if name.startswith("channel_task_")}
STREAM_NAMES = {
    kinds.REPLAY_COMPLETE,
    kinds.STATE_RESYNC_REQUIRED,
    kinds.SLOW_CLIENT_WARNING,
    kinds.CLIENT_EVICTED,
}


def test_the_scripts_write_the_names_that_are_declared():
    sources = "\n".join(path.read_text() for path in ROOT.glob("*/lua/*.lua"))
    literal = set(re.findall(r"(?:task_event|append_event)\(log, '(\w+)'", sources))
    composed = {f"task_{status}" for status in get_args(EndStatus) if status != "queued"}
    assert "task_event(log, 'task_' .. status" in sources

    assert literal - {"task_"} | composed == NAMES - STREAM_NAMES - {kinds.TASK_PROGRESS} - ANNOUNCED


def test_whatever_happens_to_a_turn_has_a_name():
    union = get_args(get_args(ChannelTaskLifecycleEvent)[0])

    assert {f"channel_task_{event.model_fields['type'].default}" for event in union} == ANNOUNCED


def test_the_page_describes_every_name():
    page = (ROOT / "docs" / "events.md").read_text()

    assert {name for name in NAMES if name not in page} == set()
