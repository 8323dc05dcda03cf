"""Tasks of each kind on a real store, in this process."""

from pathlib import Path
from typing import Any

from agent.deadline import Deadline
from agent.dream import dream
from agent.forget import forget
from agent.models.interface import Model
from agent.models.offline import OfflineModel
from agent.remember import remember
from agent.review import review
from agent.store_tasks import apply, import_documents, undo
from agent.task_run import TaskCall, Workplace
from core.acp import Scope
from core.ids import Kind, LaneId, TaskId, new_task_id
from core.memory_calls import (
    ApplyParams,
    DreamParams,
    ForgetParams,
    ImportParams,
    RememberParams,
    ReviewParams,
    UndoParams,
)
from core.policies import Policy
from memory.paths import Roots, find_roots
from memory.store import FencedTask, Store, open_store

LANE = LaneId("test/lane")


class TaskMemory:
    """A memory base with one workspace, and the model that its tasks ask.

    Attributes:
        store: replaced by one with a checkpoint in tests that need faults.
        policy: of the tasks.
    """

    def __init__(
        self,
        folder: Path,
    ) -> None:
        self.base, workspace = folder / "base", folder / "workspace"
        self.base.mkdir()
        workspace.mkdir()
        self.roots: Roots = find_roots(self.base, str(workspace))
        self.store: Store = open_store(self.base)
        self.policy = Policy()
        self.use(OfflineModel())

    def use(self, model: Model) -> None:
        """Ask this model from now on, for short questions too."""
        self.model = model

    def remember(self, content: str = "Prefers tea", *, call: TaskCall | None = None) -> dict[str, Any]:
        """Run a remember task."""
        return remember(
            RememberParams(content=content, cwd="/"), call or task_call("remember"), self._workplace
        )

    def forget(
        self, query: str, *, scope: Scope | None = None, call: TaskCall | None = None
    ) -> dict[str, Any]:
        """Run a forget task."""
        return self.forget_by(ForgetParams(query=query, cwd="/", scope=scope), call=call)

    def forget_by(self, params: ForgetParams, *, call: TaskCall | None = None) -> dict[str, Any]:
        """Run a forget task with these params."""
        return forget(params, call or task_call("forget"), self._workplace)

    def dream(self, *, scope: Scope | None = None, call: TaskCall | None = None) -> dict[str, Any]:
        """Run a dream task."""
        return dream(DreamParams(cwd="/", scope=scope), call or task_call("dream"), self._workplace)

    def import_documents(self, params: ImportParams, *, call: TaskCall | None = None) -> dict[str, Any]:
        """Run an import task."""
        return import_documents(params, call or task_call("import"), self._workplace)

    def undo(self, revision: str) -> dict[str, Any]:
        """Run an undo task."""
        return undo(UndoParams(cwd="/", revision=revision), task_call("undo"), self._workplace)

    def apply(self, preview: TaskId, *, kind: Kind) -> dict[str, Any]:
        """Run the task that applies a dry run of this kind."""
        return apply(ApplyParams(cwd="/", preview=preview), task_call(kind), self._workplace)

    def review(self, params: ReviewParams) -> dict[str, Any]:
        """Run a review task."""
        return review(params, task_call("review"), self._workplace)

    @property
    def _workplace(self) -> Workplace:
        return Workplace(self.store, self.roots, self.model, self.model, self.policy)


def task_call(kind: Kind, *, time_ms: int = 290_000, dry_run: bool = False) -> TaskCall:
    """A fresh task that has so much time left."""
    task = FencedTask(new_task_id(kind), LANE, 1, kind)
    return TaskCall(task, Deadline.after(time_ms), dry_run=dry_run)
