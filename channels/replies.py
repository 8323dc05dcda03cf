"""What a channel says by itself."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from channels.config import ChannelConfig
from channels.envelope import Envelope
from channels.identity import ChannelRuntimeIdentity, ChannelRuntimeMemoryScope
from channels.sanitizing import quoted
from core.chat import AgentCommand
from core.errors import MemlaneError

MAX_SHOWN_CHARACTERS = 128
MAX_REASON_CHARACTERS = 200

CANCELLED = "Cancelled current request."
NOT_CANCELLED = "Failed to cancel current request."
NOTHING_RUNS = "No request is currently running."
CLEARED = "Session cleared. The next message starts a new one."
NO_SESSION = "No active session to clear."
NOT_AUTHORIZED = "You are not authorized to do that here."
CONFIRM_CLEAR = "Several people use this session. To clear it for all of them, send: /clear confirm"
BUSY = "Too many messages are waiting already, so this one was not taken. Send it again later."
TIMED_OUT = "That took too long and was cancelled."
INTERRUPTED = "The service was restarted while it worked on this. Please send it again."
FAILED = "Sorry, that failed: {reason}"
UNEXPECTED = "something unexpected happened"
STEER_NOTE = "[The previous request has been cancelled because of this newer message.]"

COMMANDS: Mapping[str, str] = {
    "help": "what can be asked",
    "clear": "start anew",
    "who": "who and where the agent is",
    "status": "the state of this session",
    "cancel": "stop the request that runs",
}
"""What the commands that every channel has are good for."""


def help_text(extra: Mapping[str, str], agent_commands: Sequence[AgentCommand], *, is_shared: bool) -> str:
    """What can be asked.

    Args:
        extra: what further commands do, if that is told, by their names without the slash.
    """
    clear = "/clear confirm" if is_shared else "/clear"
    lines = [
        "Commands:",
        "/help - this text",
        f"{clear} - {COMMANDS['clear']} (also /reset, /new)",
        *(f"/{name} - {COMMANDS[name]}" for name in ("who", "status", "cancel")),
        *(f"/{name} - {summary}" if summary else f"/{name}" for name, summary in extra.items()),
    ]
    if agent_commands:
        lines += ["", "Of the agent:"]
    for command in agent_commands:
        said = f" - {_shown(command.description)}" if command.description else ""
        lines.append(f"/{_shown(command.name)}{said}")
    return "\n".join(lines)


def failure_text(error: Exception) -> str:
    """What a chat is told of an error; of one that nobody foresaw only that there was one."""
    reason = str(error) if isinstance(error, MemlaneError) else UNEXPECTED
    return FAILED.format(reason=quoted(reason, MAX_REASON_CHARACTERS))


def who_text(
    config: ChannelConfig,
    envelope: Envelope,
    *,
    identity: ChannelRuntimeIdentity,
    memory_scope: ChannelRuntimeMemoryScope,
    is_active: bool,
) -> str:
    """Who the agent is here, and who shares its session."""
    lines = [f"Channel: {_shown(config.name)}"]
    if config.is_labelled:
        lines += [
            f"Identity: {_shown(identity.display_name)}",
            f"Memory: {_shown(memory_scope.namespace)}",
        ]
    lines += [
        f"Workspace: {_shown(PurePath(config.cwd).name)}",
        f"Session: {_session(is_active=is_active)}{_sharing(config, envelope)}",
    ]
    return "\n".join(lines)


def status_text(
    config: ChannelConfig,
    *,
    identity: ChannelRuntimeIdentity,
    memory_scope: ChannelRuntimeMemoryScope,
    is_active: bool,
) -> str:
    """How things are here."""
    lines = [
        f"Session: {_session(is_active=is_active)}",
        f"Access: {config.sender_policy}",
        f"Channel: {_shown(config.name)}",
    ]
    if config.is_labelled:
        lines += [f"Identity: {_shown(identity.id)}", f"Memory: {memory_scope.mode}"]
    return "\n".join(lines)


def _session(*, is_active: bool) -> str:
    return "active" if is_active else "none"


def _sharing(config: ChannelConfig, envelope: Envelope) -> str:
    if config.session_scope == "single":
        return " (shared channel-wide)"
    if not envelope.is_group:
        return ""
    return " (private to you)" if config.session_scope == "user" else " (shared by this group)"


def _shown(text: str) -> str:
    return quoted(text, MAX_SHOWN_CHARACTERS)
