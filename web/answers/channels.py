"""Answers to what chat services post."""

from web.answers.shown import Shown


class Received(Shown):
    """A message was stored.

    Attributes:
        duplicate: whether that was done before.
    """

    duplicate: bool = False
