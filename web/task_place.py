"""Where tasks are looked up: at the path of their kind, or at that of all."""

from dataclasses import dataclass
from typing import Final

from core.ids import Kind, kind_of
from web.errors import DreamTaskNotFound, ForgetTaskNotFound, RememberTaskNotFound, TaskNotFound


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """A path below a workspace, and the tasks that are found there.

    Attributes:
        kind: of these tasks; None for any.
        not_found: what is raised for others.
    """

    kind: Kind | None
    not_found: type[TaskNotFound]

    @property
    def noun(self) -> str:
        """What the names of its routes end with."""
        return self.kind or "task"

    @property
    def path(self) -> str:
        """The path below the workspace."""
        return f"/memory/{self.kind or 'tasks'}"

    def kind_of(self, task_id: str) -> Kind | None:
        """Kind that a task has to be of to be found here; None when there can be no such task."""
        return self.kind or kind_of(task_id)


REMEMBER: Final = TaskPlace("remember", RememberTaskNotFound)
FORGET: Final = TaskPlace("forget", ForgetTaskNotFound)
DREAM: Final = TaskPlace("dream", DreamTaskNotFound)
ANY: Final = TaskPlace(None, TaskNotFound)
PLACES: Final = (REMEMBER, FORGET, DREAM, ANY)


def place_of(kind: Kind) -> TaskPlace:
    """Where tasks of a kind are said to be."""
    return next((place for place in PLACES if place.kind == kind), ANY)
