"""What an agent is told before the first message of a session."""

from channels.identity import ChannelRuntimeIdentity, ChannelRuntimeMemoryScope
from channels.sanitizing import quoted

MAX_LABEL_CHARACTERS = 128
MAX_DESCRIPTION_CHARACTERS = 256


def boundary_note(identity: ChannelRuntimeIdentity, scope: ChannelRuntimeMemoryScope) -> str:
    """Tell the agent who it is here. It asks for discretion; it isolates nothing."""
    lines = [
        "Channel identity:",
        f"- id: {quoted(identity.id, MAX_LABEL_CHARACTERS)}",
        f"- display name: {quoted(identity.display_name, MAX_LABEL_CHARACTERS)}",
    ]
    if identity.description:
        lines.append(f"- description: {quoted(identity.description, MAX_DESCRIPTION_CHARACTERS)}")
    lines += [
        "",
        "Memory scope:",
        f"- namespace: {quoted(scope.namespace, MAX_LABEL_CHARACTERS)}",
        f"- mode: {scope.mode}",
        "- data from other channels must not be shared.",
    ]
    return "\n".join(lines)


def first_turn_context(*, memory: str, instructions: str | None, note: str | None) -> str:
    """What stands before the first message of a session, empty when there is nothing to tell."""
    told = f"Channel memory for this chat:\n{memory}" if memory else None
    return "\n\n".join(block for block in (told, instructions, note) if block)
