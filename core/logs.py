"""Logging set-up: one JSON object a line, readable colours on a terminal."""

import logging
import sys

import structlog


def configure_logs(level: str = "info", *, process: str) -> None:
    """Send structlog and stdlib records to stderr in one shape.

    Args:
        level: lowest level shown, a stdlib level name in lower case.
        process: name of this process (web, worker, …), part of every line.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        _ProcessName(process),
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    on_terminal = sys.stderr.isatty()
    last = structlog.dev.ConsoleRenderer() if on_terminal else structlog.processors.JSONRenderer()
    before_last = [] if on_terminal else [structlog.processors.format_exc_info]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *before_last, last],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for chatty in ("httpcore2", "httpx2", "openai", "asyncio", "dramatiq"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


class _ProcessName:
    """Adds the process's name to each line, on every thread."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(
        self, _logger: object, _method: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        event.setdefault("process", self._name)
        return event


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Logger of one module; bind facts as keyword arguments, never memory text, request text or tokens."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger
