"""Which model serves, by settings."""

from agent.models.interface import ChatModel, Model
from agent.models.offline import OfflineModel
from agent.models.openai import OpenAIModel
from core.logs import get_logger
from core.settings import ModelSettings

_log = get_logger(__name__)


def open_model(settings: ModelSettings) -> Model:
    """Make the configured model, or the offline one when none is configured.

    Settings that name a server or a key but not all that is needed are logged by name, because whoever
    made them expects another model than the one that serves.
    """
    if not settings.offline:
        return OpenAIModel(settings)
    in_vain = sorted(name.upper() for name in ModelSettings.model_fields if _is_given(settings, name))
    if in_vain:
        _log.warning("model_settings_incomplete", given=in_vain, serving=OfflineModel.name)
    return OfflineModel()


def open_fast_model(settings: ModelSettings) -> Model:
    """Make the model for short questions: at temperature 0, and the fast one if one is named."""
    if settings.offline:
        return OfflineModel()
    return OpenAIModel(settings, name=settings.fast_model, temperature=0.0)


def open_chat_model(settings: ModelSettings) -> ChatModel:
    """Make a model for one session, on connections of its own."""
    return OfflineModel() if settings.offline else OpenAIModel(settings)


def _is_given(settings: ModelSettings, name: str) -> bool:
    return name.startswith("openai_") and bool(getattr(settings, name))
