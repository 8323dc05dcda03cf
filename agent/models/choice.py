"""Which model serves, by settings."""

from agent.models.interface import Model
from agent.models.offline import OfflineModel
from agent.models.openai import OpenAIModel
from core.settings import ModelSettings


def open_model(settings: ModelSettings) -> Model:
    """Make the configured model, or the offline one when none is configured."""
    return OfflineModel() if settings.offline else OpenAIModel(settings)
