"""What can go wrong between the worker and an agent child."""

from collections.abc import Mapping
from types import MappingProxyType

from core.acp import Usage
from core.errors import DependencyError, StateError

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "model_unavailable": "the language model did not answer",
        "model_rejected": "the language model rejected the request",
    }
)


class AgentUnavailable(DependencyError):
    """The agent child could not be started; no request reached it, so memory is unchanged."""

    code = "agent_unavailable"


class AgentDied(DependencyError):
    """The agent child died, or stopped answering and was killed, before it answered.

    Its process group is gone. It may have committed just before: resolve the task.

    Attributes:
        exit_code: its exit code, minus the signal's number if a signal ended it; None when the bridge
            killed it or never saw it exit.
    """

    code = "agent_died"

    def __init__(self, message: str, *, exit_code: int | None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class AgentTimeout(DependencyError):
    """No answer came within the bridge's limit; the child was killed. Resolve the task."""

    code = "agent_timeout"


class AgentFailed(DependencyError):
    """The agent child answered that the call failed; the child itself is well.

    Attributes:
        error_kind: the child's own word for it, as given, at most 64 characters; ``unspecified`` if it
            gave none. Foreign children have kinds of their own, so map unknown ones before showing them.
        details: the child's explanation, for the log only: it may quote what it was asked.
        stored_fence: the fence that the memory store holds, with kind ``lease_lost`` of a child of ours;
            None if it didn't say.
        usage: what the task cost all the same, if a child of ours says so.
    """

    code = "agent_failed"

    def __init__(
        self, error_kind: str, *, details: str, stored_fence: int | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(_WORDS.get(error_kind, f"the agent answered with an error of kind {error_kind!r}"))
        self.error_kind = error_kind
        self.details = details
        self.stored_fence = stored_fence
        self.usage = usage


class DirectAgentFailed(AgentFailed):
    """A task failed on a child that writes by itself, or after that one: memory may have changed.

    Resolve the task.
    """

    code = "direct_agent_failed"


class AgentProtocolError(DependencyError):
    """The agent child answered in a shape that it must not. It may have committed: resolve the task."""

    code = "agent_protocol"


class AgentKilled(StateError):
    """We ended the child while the call ran: told to, at our own end, or by its guard in our absence.

    An answer is dropped. Whether the child committed is unknown: resolve the task.
    """

    code = "agent_killed"


class SessionBusy(StateError):
    """A prompt runs in the session; another one was not sent."""

    code = "agent_session_busy"
