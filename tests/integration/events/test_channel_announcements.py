"""What happens to turns, in the log that all instances tell of."""

import json

from events.chat.announcing import open_announcer
from tests.support.event_writer import read


def test_an_announcement_is_an_event_like_all_others(redis_url, writer, hub):
    writer.append()
    announcer = open_announcer(redis_url)
    announcer.announce(writer.lane.workspace, "channel_task_started", {"chatId": "c1"})
    announcer.announce(writer.lane.workspace, "channel_task_completed", {"chatId": "ä"})
    with hub.open(writer.lane.workspace, after=0, epoch=None) as subscription:
        told = read(subscription, 3)

    assert [(one.id, one.type) for one in told[1:]] == [
        (2, "channel_task_started"),
        (3, "channel_task_completed"),
    ]
    assert json.loads(told[2].data_json) == {"chatId": "ä"}
