"""What the parts of one channel's machinery share."""

from collections.abc import Callable
from dataclasses import dataclass

from channels.bridge import AgentBridge
from channels.config import ChannelConfig
from channels.delivering import Deliverer
from channels.envelope import Envelope
from channels.group_history import GroupHistory
from channels.hooks import Hooks
from channels.identity import ChannelRuntimeIdentity, ChannelRuntimeMemoryScope
from channels.observing import Observer
from channels.parts import ChannelParts
from channels.router import Router
from channels.session_line import SessionLines
from channels.settling import Settler
from core.logs import get_logger

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Workings:
    """One channel's state and the seams to what is outside of it.

    Attributes:
        hooks: the adapter's.
        bridge: gives the bridge of the moment.
        parts: what was handed in.
    """

    config: ChannelConfig
    identity: ChannelRuntimeIdentity
    memory_scope: ChannelRuntimeMemoryScope
    hooks: Hooks
    bridge: Callable[[], AgentBridge]
    parts: ChannelParts
    observer: Observer
    deliverer: Deliverer
    settler: Settler
    router: Router
    lines: SessionLines
    history: GroupHistory

    def is_shared(self, envelope: Envelope) -> bool:
        """Whether several people use the session of a message."""
        return self.config.is_shared(is_group=envelope.is_group)

    def may_act(self, envelope: Envelope) -> bool:
        """Whether a sender may act on the session: anybody on their own, who is listed on a shared one."""
        return not self.is_shared(envelope) or self.config.may_act_on_shared(envelope.sender_id)

    def drop_unused_line(self, session_id: str) -> None:
        """Keep nothing of a session that nobody is routed to, once nothing runs or waits there."""
        if self.router.route_of(session_id) is None:
            self.lines.drop_if_idle(session_id)

    def drop_buffer(self, session_id: str) -> None:
        """Forget what was collected in a session."""
        line = self.lines.find(session_id)
        dropped = line.take_buffer() if line is not None else []
        if dropped:
            _log.info(f"dropped {len(dropped)} buffered message(s)", session=session_id)
            self.settler.settle_soon([one for each in dropped for one in each.envelope.receipts], "dropped")
