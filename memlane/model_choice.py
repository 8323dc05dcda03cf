"""Which model will serve, in words for the person who starts the service."""

from dataclasses import dataclass
from pathlib import Path

from core.settings import ModelSettings, Settings

OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What the settings amount to.

    Attributes:
        name: None for the offline rules, and when an agent command of one's own decides.
        label: what clients are told: the name, ``offline``, or the agent command's own name.
        line: for people.
        warning: what is set in vain; None if nothing is.
    """

    name: str | None
    label: str
    line: str
    warning: str | None = None


def choose_model(settings: Settings, model: ModelSettings) -> ModelChoice:
    """Read off the settings which model the agent child will use."""
    if settings.agent_command:
        command = Path(settings.agent_command[0]).name
        return ModelChoice(None, command, f"as {command} chooses (MEMLANE_AGENT_COMMAND)")
    if model.openai_model and not model.offline:
        at = f" at {model.openai_base_url}" if model.openai_base_url else ""
        return ModelChoice(model.openai_model, model.openai_model, f"{model.openai_model}{at}")
    line = "offline rules (set OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL)"
    return ModelChoice(None, OFFLINE, line, _in_vain(model))


def _in_vain(model: ModelSettings) -> str | None:
    values = {
        "OPENAI_BASE_URL": model.openai_base_url,
        "OPENAI_API_KEY": model.openai_api_key,
        "OPENAI_MODEL": model.openai_model,
    }
    given = [name for name, value in values.items() if value]
    if not given:
        return None
    missing = "OPENAI_BASE_URL or OPENAI_API_KEY" if model.openai_model else "OPENAI_MODEL"
    verb = "are" if len(given) > 1 else "is"
    return f"{' and '.join(given)} {verb} set, but no model is used without {missing}"
