"""Logging set-up: one JSON object a line, short lines on a terminal."""

import json
import logging
import sys
from contextlib import AbstractContextManager, suppress

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
    last: Processor = ConsoleLine(coloured=wants_colour()) if on_terminal else _json_line
    to_text: list[Processor] = [structlog.processors.format_exc_info, _without_none, last]
    structlog.configure(
        # past the standard library's logging, which costs several times as much
        processors=[*shared, *own, *to_text],
        logger_factory=_Writer,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *to_text],
        )
    )
    handler.addFilter(_without_traceback_of_the_engine)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # httpx tells each URL at level info, and that of a Telegram bot holds its token
    clients = ("httpcore", "httpcore2", "httpx", "httpx2", "aiohttp", "telegram", "slack_sdk", "openai")
    for chatty in (*clients, "asyncio", "dramatiq", "markdown_it"):
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
        structlog.processors.add_log_level,
        structlog.stdlib.add_logger_name,
        times,
    ]


def _without_traceback_of_the_engine(record: logging.LogRecord) -> bool:
    """Shorten what dramatiq's consumers say, twice a second, of a Redis that is full or away."""
    if record.name.startswith("dramatiq"):
        record.exc_info = record.exc_text = None
    return True


def _without_none(_logger: object, _method: str, event: EventDict) -> EventDict:
    return {name: value for name, value in event.items() if value is not None}


# made once: json.dumps makes one for each call that has options
_encode = json.JSONEncoder(default=repr).encode


def _json_line(_logger: object, _method: str, event: EventDict) -> str:
    return _encode(event)


class _Writer:
    """Writes to stderr what is text by now; ``name`` is the module's.

    A line that can't be written is dropped (a full disk, no reader any more): work never fails for its log.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def msg(self, line: str) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    debug = info = warning = error = critical = exception = msg


class _ProcessName:
    """Adds the process's name to each line, on every thread."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, _logger: object, _method: str, event: EventDict) -> EventDict:
        event.setdefault("process", self._name)
        return event


def bound(**facts: str | None) -> AbstractContextManager[None]:
    """Add facts to each log line of this thread while the body runs; those that are None are left out."""
    return structlog.contextvars.bound_contextvars(**facts)


def get_logger(name: str) -> structlog.typing.FilteringBoundLogger:
    """Logger of one module; bind facts as keyword arguments, never memory text, request text or tokens."""
    logger: structlog.typing.FilteringBoundLogger = structlog.get_logger(name)
    return logger
