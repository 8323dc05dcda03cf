"""How a memory call of the agent can end other than with a commit."""

from collections.abc import Iterable

from core.errors import DependencyError, InputError, StateError


class TaskTimeout(DependencyError):
    """The call's deadline passed. Nothing was committed."""

    code = "task_timeout"


class TaskCancelled(StateError):
    """The call was called off before its commit. Nothing was committed."""

    code = "task_cancelled"


class NoUpdate(StateError):
    """The agent ended its run without writing any memory. Nothing was committed."""

    code = "remember_no_update"


class RunStopped(StateError):
    """The run was ended before it wrote anything valid. Nothing was committed.

    Attributes:
        reason: ``MAX_TURNS`` or ``NO_PROGRESS``.
    """

    code = "run_stopped"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SelectionFailed(StateError):
    """Nobody could tell which entries a request to forget means. Nothing was committed."""

    code = "selection_failed"


class ScopeMismatch(InputError):
    """The agent wrote to a scope that the request did not ask for. Nothing was committed."""

    code = "remember_scope_mismatch"


class ScopeForbidden(InputError):
    """The operator's policy allows no change where the task wants one. Nothing was committed."""

    code = "scope_forbidden"


class BudgetExceeded(StateError):
    """The task took more than the operator's policy allows. Nothing was committed."""

    code = "budget_exceeded"


class SecretDetected(InputError):
    """What was to be remembered holds what looks like a secret. Nothing was committed.

    Attributes:
        rules: names of what it was recognised by; never the value.
    """

    code = "secret_detected"

    def __init__(self, rules: Iterable[str]) -> None:
        self.rules = tuple(rules)
        super().__init__(f"recognised by {', '.join(self.rules)}")


class DocumentStands(StateError):
    """A document to import can't have its place, because of what stands there. Nothing was committed."""

    code = "document_stands"


class ReviewOutdated(StateError):
    """The document is not what was reviewed, or does not wait any more. Nothing was committed."""

    code = "review_outdated"


class ToolRefused(InputError):
    """A tool call can't be done as asked; the message is for the model that made it."""

    code = "tool_refused"


class ModelRejected(DependencyError):
    """The model server refused the request for good (key, rights, shape); trying again won't help.

    Attributes:
        status: HTTP status of the answer.
    """

    code = "model_rejected"

    def __init__(self, status: int) -> None:
        super().__init__(f"The model server refused the request (HTTP {status})")
        self.status = status


class ModelUnavailable(DependencyError):
    """No usable answer from the model server; the message is one sentence without its words."""

    code = "model_unavailable"
