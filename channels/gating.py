"""Who is listened to."""

from dataclasses import dataclass
from typing import Literal, Protocol

from channels.config import ChannelConfig
from channels.envelope import Envelope

GroupVerdict = Literal["pass", "drop", "remember"]


class Pairing(Protocol):
    """Strangers who ask to be let in."""

    def is_approved(self, sender_id: str) -> bool:
        """Whether somebody let them in."""
        ...

    def invite(self, sender_id: str, *, sender_name: str, is_group: bool) -> str:
        """Note that they ask, and say what to answer them."""
        ...


@dataclass(frozen=True, slots=True)
class SenderVerdict:
    """Whether a sender is listened to, and what to tell them if not; None means nothing."""

    passes: bool
    reply: str | None = None


def group_verdict(config: ChannelConfig, envelope: Envelope) -> GroupVerdict:
    """Whether a message of a group is for the agent.

    ``remember`` means that it is not, but belongs to what the agent is told when it is mentioned.
    """
    if not envelope.is_group:
        return "pass"
    if config.group_policy == "disabled":
        return "drop"
    if config.group_policy == "allowlist" and envelope.chat_id not in config.groups:
        return "drop"
    if not config.group(envelope.chat_id).require_mention:
        return "pass"
    if envelope.is_mentioned or envelope.is_reply_to_bot:
        return "pass"
    return "remember" if config.history_limit_in(envelope.chat_id) else "drop"


def sender_verdict(config: ChannelConfig, envelope: Envelope, pairing: Pairing) -> SenderVerdict:
    """Whether the sender may talk to the agent."""
    if is_let_in(config, envelope, pairing):
        return SenderVerdict(passes=True)
    if config.sender_policy == "allowlist":
        return SenderVerdict(passes=False)
    return SenderVerdict(
        passes=False,
        reply=pairing.invite(
            envelope.sender_id, sender_name=envelope.sender_name, is_group=envelope.is_group
        ),
    )


def is_let_in(config: ChannelConfig, envelope: Envelope, pairing: Pairing) -> bool:
    """Whether the sender may talk to the agent already; nothing is noted."""
    if config.sender_policy == "open" or envelope.sender_id in config.allowed_users:
        return True
    return config.sender_policy == "pairing" and pairing.is_approved(envelope.sender_id)
