"""What the child does for each method, apart from the wire."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from agent.budget import within_time
from agent.deadline import Deadline
from agent.methods import TASK_METHODS, Run
from agent.models.interface import Model
from agent.progress import Tell
from agent.requests import kind_of
from agent.task_run import TaskCall, Workplace
from core import acp
from core.clock import boot_ms, wall_ms
from core.ids import ClientId, Kind, LaneId, TaskId, lane_id, new_task_id, workspace_id
from core.logs import get_logger
from core.policies import load_policies
from core.settings import Settings
from core.version import own_version
from memory.direct_tasks import DirectTasks
from memory.errors import LeaseLost, StoreBusy, StoreUnusable
from memory.paths import find_roots, locate_roots
from memory.previews import MAX_KEEP_MS
from memory.store import FencedTask, Store, open_store

LOCAL_DEPLOYMENT = "local"
PRUNE_PAUSE_MS = 3_600_000  # a prune makes the history durable first, which tasks may have to wait for

_CAPABILITIES: Mapping[str, Any] = {
    "loadSession": True,  # as long as this process lives
    "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": False, "sse": False},
    "sessionCapabilities": {"list": {}, "close": {}},
}

_log = get_logger(__name__)


class MemoryService:
    """Memory calls of one workspace on one store; tasks and resolve belong to one thread.

    Attributes:
        workspace: canonical absolute path.
        policy: what the operator lets tasks of this workspace do.
    """

    def __init__(self, settings: Settings, *, workspace: str, model: Model, fast_model: Model) -> None:
        """Open nothing yet; the store is opened with the first call that needs it.

        Args:
            workspace: canonical absolute path.

        Raises:
            ConfigError: the policy file can't be used.
        """
        self.workspace = workspace
        self._settings = settings
        self._model = model
        self._fast_model = fast_model
        self.policy = load_policies(settings.policy_file).of(workspace)
        self._told: str | None = None
        self._pruned_until_ms = 0

    def describe(self) -> dict[str, Any]:
        """Answer of ``initialize``."""
        ours: dict[str, Any] = {
            "v": 1,
            "methods": [acp.AVAILABILITY, *TASK_METHODS, acp.PING, acp.RESOLVE, acp.CANCEL],
            "model": self._model.name,
        }
        with suppress(StoreUnusable, StoreBusy):  # the client learns it from availability
            ours["storeId"] = self._store().store_id
        return {
            "protocolVersion": acp.PROTOCOL_VERSION,
            "agentInfo": {"name": "memlane-agent", "title": "memlane agent", "version": own_version()},
            "authMethods": [],
            "agentCapabilities": {**_CAPABILITIES, "_meta": {acp.CAPABILITY_META: ours}},
        }

    def is_available(self) -> bool:
        """Tell whether the store can be written now."""
        try:
            self._store().require_writable()
        except (StoreUnusable, StoreBusy) as error:
            self._tell_once(str(error))
            return False
        self._told = None
        return True

    def run(
        self, run: Run, *, kind: Kind, meta: acp.TaskMeta | None, deadline: Deadline, tell: Tell
    ) -> dict[str, Any]:
        """Run a task; see ``agent.task_run``.

        Without our meta (a client that is not our bridge) the call is a task of its own in
        the lane ``local/<workspace id>``. Its fence is the wall clock; should that stand
        behind a stored one, the next greater fence is used.

        Args:
            tell: hears how far a task of our bridge is, from the thread that runs it.
        """
        if meta is not None:
            return self._run(run, TaskCall(_fenced(meta), deadline, dry_run=meta.dry_run, tell=tell))
        task = self._local_task(kind, fence=wall_ms())
        try:
            return self._run(run, TaskCall(task, deadline))
        except LeaseLost as lost:
            return self._run(run, TaskCall(replace(task, fence=lost.stored_fence + 1), deadline))

    def resolve(self, params: acp.ResolveParams) -> dict[str, Any]:
        """Answer whether a task committed, and with ``close`` keep it from committing later.

        What an agent that writes by itself left of a task that is closed is committed in the task's name.
        """
        task = FencedTask(
            id=TaskId(params.task_id),
            lane=LaneId(params.lane_id),
            fence=params.fence,
            kind=kind_of(params.task_id),
        )
        store = self._store()
        remains = self._remains_of(task, store) if params.close else None
        answer: dict[str, Any] = {"result": store.resolve(task, close=params.close)}
        return answer | ({"remains": remains.to_wire()} if remains else {})

    def _remains_of(self, task: FencedTask, store: Store) -> acp.Remains | None:
        settings, direct_tasks = self._settings, DirectTasks(store)
        if not direct_tasks.has_begun(task.id):
            return None
        roots = locate_roots(settings.memory_base, self.workspace, local=settings.memory_local)
        left = direct_tasks.close(task, roots)
        if left is None or left.revision is None:
            return None
        return acp.Remains(revision=left.revision, touched_scopes=list(left.touched_scopes))

    def tidy_history(self) -> bool:
        """Bring the history of memory a part further; once it shows all, take old texts from the journal.

        Returns:
            Whether there is more to do.
        """
        try:
            store = self._store()
        except (StoreUnusable, StoreBusy):  # the client learns it from availability
            return False
        return store.show_history() or self._prune(store)

    def _prune(self, store: Store) -> bool:
        kept_ms = self._settings.history_keep_ms
        if kept_ms is None or boot_ms() < self._pruned_until_ms:
            return False
        more = False
        try:
            more = store.prune(before_ms=wall_ms() - kept_ms) > 0
        except (StoreUnusable, StoreBusy) as error:
            _log.warning("texts_left", reason=str(error))
        if not more:
            self._pruned_until_ms = boot_ms() + PRUNE_PAUSE_MS
        return more

    def _run(self, run: Run, call: TaskCall) -> dict[str, Any]:
        call = within_time(call, self.policy)
        call.deadline.check()
        store = self._store()
        settings = self._settings
        roots = find_roots(settings.memory_base, self.workspace, local=settings.memory_local)
        workplace = Workplace(
            store,
            roots,
            self._model,
            self._fast_model,
            self.policy,
            preview_ms=min(settings.task_ttl_s * 1000, MAX_KEEP_MS),
        )
        return run(call, workplace)

    def _tell_once(self, reason: str) -> None:
        # asked every few seconds, and the same news each time is none
        if reason != self._told:
            _log.warning("memory_unavailable", reason=reason)
        self._told = reason

    def _store(self) -> Store:
        return open_store(self._settings.memory_base, expect=self._settings.store_id)

    def _local_task(self, kind: Kind, *, fence: int) -> FencedTask:
        lane = lane_id(LOCAL_DEPLOYMENT, workspace_id(self.workspace))
        return FencedTask(id=new_task_id(kind), lane=lane, fence=fence, kind=kind)


def _fenced(meta: acp.TaskMeta) -> FencedTask:
    return FencedTask(
        id=TaskId(meta.task_id),
        lane=LaneId(meta.lane_id),
        fence=meta.fence,
        kind=kind_of(meta.task_id),
        client=ClientId(meta.client_id) if meta.client_id else None,
    )
