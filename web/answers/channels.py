"""Answers to what chat services post."""

from web.answers.shown import Absent, Shown


class Received(Shown):
    """A message was stored.

    Attributes:
        duplicate: whether that was done before.
    """

    duplicate: bool = False


class SlackReceived(Shown):
    """An event was taken.

    Attributes:
        stored: whether it held a message that was not known.
        challenge: what Slack reads back when it tries the address.
    """

    stored: bool
    challenge: str | Absent = None
