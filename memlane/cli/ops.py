"""The work of ``memlane ops``."""

import sys
from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from memlane.cli.connection import Place, connected
from memlane.cli.exits import Exit
from memlane.cli.task_output import printable
from memlane.models import Answer
from memlane.operator_models import Act, ActOutcome, ActPage, Channel, Channels, Lane, Lanes, Worker, Workers


def show_lanes(place: Place, *, as_json: bool) -> Exit:
    """Print how the lanes stand, one a line.

    Raises:
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
    """
    with connected(place) as client:
        lanes = client.operators.lanes()
    return _print(Lanes(lanes=lanes), [_lane(one) for one in lanes], as_json=as_json)


def show_workers(place: Place, *, as_json: bool) -> Exit:
    """Print the workers that live, one a line.

    Raises:
        MemlaneApiError, Unreachable: as for ``show_lanes``.
    """
    with connected(place) as client:
        workers = client.operators.workers()
    lines = [_worker(one) for one in workers] or ["no worker lives"]
    return _print(Workers(workers=workers), lines, as_json=as_json)


def show_channels(place: Place, *, as_json: bool) -> Exit:
    """Print how the chat channels stand, one a line.

    Raises:
        MemlaneApiError, Unreachable: as for ``show_lanes``.
    """
    with connected(place) as client:
        channels = client.operators.channels()
    lines = [_channel(one) for one in channels] or ["no channel is configured"]
    return _print(Channels(channels=channels), lines, as_json=as_json)


def set_held(place: Place, *, is_held: bool, as_json: bool) -> Exit:
    """Hold the place's lane, or let it go, and print how it stands.

    Raises:
        MemlaneApiError, Unreachable: as for ``show_lanes``.
    """
    with connected(place) as client:
        act = client.operators.hold if is_held else client.operators.unhold
        lane = act(place.workspace or "")
    return _print(lane, [_lane(lane)], as_json=as_json)


def show_audit(outcome: ActOutcome, place: Place, *, limit: int, as_json: bool) -> Exit:
    """Print acts on record, newest first, one a line.

    Raises:
        MemlaneApiError, Unreachable: as for ``show_lanes``.
    """
    with connected(place) as client:
        acts = tuple(islice(client.operators.audit(outcome), limit))
    lines = [_act(one) for one in acts] or ["nothing is on record"]
    return _print(ActPage(entries=acts), lines, as_json=as_json)


def _print(answer: Answer, lines: Sequence[str], *, as_json: bool) -> Exit:
    told = answer.to_json() + "\n" if as_json else "".join(f"{printable(line)}\n" for line in lines)
    sys.stdout.write(told)
    return Exit.OK


def _lane(lane: Lane) -> str:
    running = (
        "idle" if lane.running is None else f"runs {lane.running.task_id}, attempt {lane.running.attempt}"
    )
    queued = f"{lane.depth} queued"
    if lane.oldest_age_ms is not None:
        queued += f" for {lane.oldest_age_ms // 1000} s"
    return "  ".join([lane.workspace_id, lane.cwd, running, queued, *(["held"] if lane.held else [])])


def _worker(worker: Worker) -> str:
    return f"{worker.worker_id}  {worker.host}:{worker.pid}  {worker.threads} threads  {worker.model}"


def _channel(channel: Channel) -> str:
    state = channel.state
    if channel.since is not None:
        state += f" since {_local(channel.since)}"
    told = [channel.name, channel.type, channel.workspace_id, state, f"{channel.waiting} waiting"]
    return "  ".join([*told, *([channel.reason] if channel.reason else [])])


def _local(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _act(act: Act) -> str:
    when = _local(act.at)
    came_to = str(act.status) if act.code is None else f"{act.status} {act.code}"
    return f"{when}  {act.token}  {act.action}  {came_to}  {act.target}"
