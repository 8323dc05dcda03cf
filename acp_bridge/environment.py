"""Which variables of the worker's environment an agent child may see."""

from collections.abc import Mapping

_NAMES = frozenset(
    {"PATH", "HOME", "LANG", "TMPDIR", "TZ"}
    | {
        "MEMLANE_MEMORY_DIR",
        "MEMLANE_STORE_ID",
        "MEMLANE_LOG_LEVEL",
        "MEMLANE_FAST_MODEL",
        "MEMLANE_POLICY_FILE",
        "MEMLANE_TASK_TTL_S",
        "MEMLANE_HISTORY_KEEP",
    }
)
_PREFIXES = ("LC_", "OPENAI_", "MEMLANE_MODEL_", "QWEN_CODE_MEMORY_")

# `qwen --acp` keeps project memory per git root and re-executes itself unless told otherwise; the
# re-executed process would outlive a kill of its parent and hold our pipes. Harmless for other children.
_FIXED = {"QWEN_CODE_MEMORY_PROJECT_SCOPE": "workspace", "QWEN_CODE_NO_RELAUNCH": "true"}


def child_environment(source: Mapping[str, str]) -> dict[str, str]:
    """Pick from ``source`` what an agent child needs.

    It is an allow-list: tokens, Redis and broker addresses and whatever else the worker holds stay
    behind. Applying it twice changes nothing.
    """
    kept = {name: value for name, value in source.items() if name in _NAMES or name.startswith(_PREFIXES)}
    return kept | _FIXED
