"""What the web has for operators, put together: rates, audit, and the board of lanes and workers."""

from dataclasses import dataclass

from core.settings import Settings
from events.connect import connect
from jobs.audit import Audit
from jobs.board import Board
from jobs.broker import Doorbell, open_broker
from jobs.client import GLANCE_S
from jobs.limits import limits_of
from jobs.rates import Rates
from jobs.upkeep import Upkeep


@dataclass(frozen=True, slots=True)
class Oversight:
    """What keeps an eye on callers and lanes."""

    rates: Rates
    audit: Audit
    board: Board


def open_oversight(settings: Settings) -> Oversight:
    """Make it from settings; connects when first used.

    Rates and audit have no patience with a Redis that is slow: no request fails or waits long for them.

    Raises:
        ConfigError: no Redis is configured.
    """
    client = connect(settings.state)
    doorbell = Doorbell(open_broker(settings), client)
    return Oversight(
        rates=Rates(connect(settings.state, timeout_s=GLANCE_S, retries=0)),
        audit=Audit(connect(settings.state, timeout_s=GLANCE_S)),
        board=Board(client, Upkeep(client, limits_of(settings)), doorbell),
    )
