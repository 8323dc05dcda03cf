"""What the agent children of this installation are told by their environment."""

from core.settings import Settings, changed_environment


def environment_of_agents(settings: Settings, store_id: str) -> dict[str, str]:
    """The environment that children are started from: they use the memory of this installation, no other."""
    base = str(settings.memory_base)
    return changed_environment(
        {
            "MEMLANE_MEMORY_DIR": base,
            "QWEN_CODE_MEMORY_BASE_DIR": base,  # all that a foreign child knows
            # a child never makes a store: where it finds none a volume is missing
            "MEMLANE_STORE_ID": store_id,
        }
    )
