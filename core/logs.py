"""Logging set-up: one JSON object a line, short lines on a terminal."""

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor

from core.console import ConsoleLine, TaskTimes, drop_routine
from core.settings import wants_colour


def configure_logs(level: str = "info", *, process: str) -> None:
    """Send structlog and stdlib records to stderr in one shape.

    Args:
        level: lowest level shown, a stdlib level name in lower case.
        process: name of this process (web, worker, …), part of every line.
    """
    on_terminal = sys.stderr.isatty()
    shared = _shared(process, on_terminal=on_terminal)
    own: list[Processor] = [TaskTimes(), drop_routine] if on_terminal else []
    last: Processor = (
        ConsoleLine(coloured=wants_colour()) if on_terminal else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*shared, *own, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    to_text: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        _without_none,
        last,
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=to_text))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for chatty in ("httpcore2", "httpx2", "openai", "asyncio", "dramatiq"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _shared(process: str, *, on_terminal: bool) -> list[Processor]:
    times = (
        structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False)
        if on_terminal
        else structlog.processors.TimeStamper(fmt="iso", utc=True)
    )
    return [
        structlog.contextvars.merge_contextvars,
        _ProcessName(process),
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        times,
    ]


def _without_none(_logger: object, _method: str, event: EventDict) -> EventDict:
    return {name: value for name, value in event.items() if value is not None}


class _ProcessName:
    """Adds the process's name to each line, on every thread."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, _logger: object, _method: str, event: EventDict) -> EventDict:
        event.setdefault("process", self._name)
        return event


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Logger of one module; bind facts as keyword arguments, never memory text, request text or tokens."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger
