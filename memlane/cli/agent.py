"""Composition of the agent child. It keeps the folder it was started in: that is its workspace."""

from agent.server import serve
from core.logs import configure_logs
from core.settings import load_model_settings, load_settings


def run() -> int:
    """Speak ACP on standard input and output until input ends.

    Returns:
        The exit code.

    Raises:
        ConfigError: a setting does not allow the start.
    """
    settings, model_settings = load_settings(), load_model_settings()
    configure_logs(settings.log_level, process="agent")
    return serve(settings, model_settings)
