"""What operators look at and do: lanes, workers, counters, the audit."""

from collections.abc import Iterable, Mapping
from functools import partial

from flask import request
from werkzeug.wrappers import Response

from core.errors import InputError
from core.workspaces import Workspaces
from events.chat.board import ChannelBoard
from jobs.audit import Act, is_cursor
from jobs.oversight import Oversight
from web.answers.operators import ActList, ChannelList, LaneList, ShownLane, Stats, WorkerList
from web.answers.shown import Shown
from web.errors import WorkspaceMismatch
from web.ops_view import show_act, show_channel, show_lane, show_load, show_worker
from web.paging import link_to_next
from web.principal import principal_of
from web.problems import json_response
from web.query import AuditQuery, parse_query
from web.route import Route
from web.selector import select


class OpsRoutes:
    """``/ops``."""

    def __init__(self, oversight: Oversight, channels: ChannelBoard, workspaces: Workspaces) -> None:
        self._board = oversight.board
        self._audit = oversight.audit
        self._channels = channels
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare the routes."""
        see = partial(Route, method="GET", role="operator", is_global=True)
        act = partial(Route, method="POST", role="operator", is_global=True)
        one, wrong = "/ops/lanes/<selector>", (WorkspaceMismatch,)
        yield see(name="list_lanes", path="/ops/lanes", view=self.list_lanes, answer=LaneList)
        yield act(name="hold_lane", path=f"{one}/hold", view=self.hold, answer=ShownLane, refusals=wrong)
        yield act(
            name="unhold_lane", path=f"{one}/unhold", view=self.unhold, answer=ShownLane, refusals=wrong
        )
        yield see(name="list_workers", path="/ops/workers", view=self.list_workers, answer=WorkerList)
        yield see(name="list_channels", path="/ops/channels", view=self.list_channels, answer=ChannelList)
        yield see(name="show_stats", path="/ops/stats", view=self.show_stats, answer=Stats)
        yield see(
            name="list_acts",
            path="/ops/audit",
            view=self.list_acts,
            query=AuditQuery,
            answer=ActList,
            sends=("Link",),
        )

    def list_lanes(self) -> Response:
        """Show how the lanes of the caller's workspaces stand."""
        shown = principal_of(request).workspaces_among(self._workspaces)
        views = self._board.lanes([workspace.id for workspace in shown])
        lanes = [show_lane(view, workspace) for view, workspace in zip(views, shown, strict=True)]
        return _answer(LaneList(lanes=lanes))

    def hold(self, selector: str) -> Response:
        """Let a lane start no further task; what runs goes on, and tasks are accepted."""
        workspace = select(self._workspaces, selector)
        return _answer(show_lane(self._board.hold(workspace.id), workspace))

    def unhold(self, selector: str) -> Response:
        """Let a lane go on."""
        workspace = select(self._workspaces, selector)
        return _answer(show_lane(self._board.unhold(workspace.id), workspace))

    def list_workers(self) -> Response:
        """Show the workers that live."""
        return _answer(WorkerList(workers=[show_worker(view) for view in self._board.workers()]))

    def list_channels(self) -> Response:
        """Show how the chat channels of the caller's workspaces stand."""
        shown = {workspace.id for workspace in principal_of(request).workspaces_among(self._workspaces)}
        standings = [one for one in self._channels.standings() if one.channel.workspace in shown]
        return _answer(ChannelList(channels=[show_channel(one) for one in standings]))

    def show_stats(self) -> Response:
        """Add up the counters of all lanes."""
        return _answer(show_load(self._board.load()))

    def list_acts(self) -> Response:
        """List who did what, or with ``outcome=refused`` who was refused, newest first."""
        query, principal = parse_query(AuditQuery, request.args), principal_of(request)
        if query.cursor is not None and not is_cursor(query.cursor):
            raise InputError("`cursor` must be the `nextCursor` of the page before")

        def accepts(act: Act) -> bool:
            if principal.workspaces is None:
                return True
            return act.workspace is not None and principal.may_enter(act.workspace)

        page = self._audit.page(query.outcome, limit=query.limit, cursor=query.cursor, accepts=accepts)
        listed = ActList(entries=[show_act(act) for act in page.acts], next_cursor=page.next_cursor)
        return _answer(listed, headers=link_to_next(request, page.next_cursor, limit=query.limit))


def _answer(body: Shown, *, headers: Mapping[str, str] | None = None) -> Response:
    return json_response(body.to_wire(), headers=headers)
