"""Whom Slack's client shows the bot's token."""

import pytest

from channels.adapters.slack.api import SlackApi
from channels.adapters.slack.options import SlackOptions
from channels.arrivals import Media
from channels.errors import FileNotFetched
from channels.timers import LoopTimers


@pytest.mark.parametrize(
    "url",
    [
        "http://files.slack.com/notes.txt",
        "https://evilslack.com/notes.txt",
        "https://slack.com.evil.example/notes.txt",
        "https://files.slack.com@evil.example/notes.txt",
        "http://slack.gateway.example/notes.txt",
        "https://slack.gateway.example:444/notes.txt",
        "file:///etc/passwd",
        "https://[",
        "",
    ],
)
async def test_a_file_that_is_not_at_slack_is_not_asked_for(url):
    options = SlackOptions.model_validate({"apiUrl": "https://slack.gateway.example/api"})
    api = SlackApi("xoxb-secret", options, LoopTimers())

    with pytest.raises(FileNotFetched, match="not at Slack"):
        await api.download(Media(url, "file", "text/plain"))
