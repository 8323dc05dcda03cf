"""Log lines for people: short, one for each task, nothing that a machine would want."""

import json
import logging
import re
from typing import Any

import structlog
from structlog.typing import EventDict

from core.clock import boot_ms
from core.ids import KINDS

# what says on a terminal only that all is as it should be; --json and pipes get it, and so does level debug
ROUTINE = frozenset(
    {
        "agent_ended",
        "agent_started",
        "headless_run_ended",
        "request_answered",
        "request_refused",
        "task_started",
        "worker_started",
        *(f"{kind}_ended" for kind in KINDS),
    }
)
MAX_REMEMBERED_STARTS = 1_000

_ID = re.compile(r"\b([0-9a-f]{4})[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_LEVEL_COLOURS = {"warning": "\x1b[33m", "error": "\x1b[31m", "critical": "\x1b[31m"}
_COLOUR_END = "\x1b[0m"


class TaskTimes:
    """Adds to the end of a task how long it ran, as ``seconds``."""

    def __init__(self) -> None:
        self._started_ms: dict[str, int] = {}

    def __call__(self, _logger: object, _method: str, event: EventDict) -> EventDict:
        """Look at one event (structlog's shape)."""
        task = event.get("task")
        if event["event"] == "task_started" and isinstance(task, str):
            if len(self._started_ms) >= MAX_REMEMBERED_STARTS:
                self._started_ms.pop(next(iter(self._started_ms)))  # its end was never told
            self._started_ms[task] = boot_ms()
        elif event["event"] == "task_ended" and task in self._started_ms:
            event["seconds"] = (boot_ms() - self._started_ms.pop(task)) / 1000
        return event


def drop_routine(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Leave routine out, unless level debug is on.

    Raises:
        DropEvent: structlog's way to say so.
    """
    is_routine = event["event"] in ROUTINE and event["level"] in ("info", "debug")
    if is_routine and not logging.getLogger().isEnabledFor(logging.DEBUG):
        raise structlog.DropEvent
    return event


class ConsoleLine:
    """Renders an event as one line; a traceback follows on lines of its own."""

    def __init__(self, *, coloured: bool) -> None:
        """Make a renderer.

        Args:
            coloured: whether warnings and errors stand out by colour.
        """
        self._coloured = coloured

    def __call__(self, _logger: object, _method: str, event: EventDict) -> str:
        """Render one event (structlog's shape)."""
        facts = dict(event)
        time, process = facts.pop("timestamp", ""), facts.pop("process", "")
        name, level = str(facts.pop("event", "")), facts.pop("level", "info")
        trace = facts.pop("exception", None)
        for repeated in ("logger", "stderr"):  # what a child said stands above, line by line
            facts.pop(repeated, None)
        if name == "task_ended":
            line = f"{time} {_task_end(facts)}"
        elif name == "agent_stderr":
            line = f"{time} {process}: {_printable(str(facts.get('line', '')))}"
        else:
            words = [_printable(name), *(f"{key}={_fact(value)}" for key, value in facts.items())]
            line = f"{time} {process} {self._level(level)}{' '.join(words)}"
        return _ID.sub("\\1\N{HORIZONTAL ELLIPSIS}", line) + (f"\n{trace}" if trace else "")

    def _level(self, level: str) -> str:
        if level == "info":
            return ""
        colour = _LEVEL_COLOURS.get(level) if self._coloured else None
        return f"{colour}{level}{_COLOUR_END}: " if colour else f"{level}: "


def _task_end(facts: dict[str, Any]) -> str:
    status = {"queued": "handed back"}.get(facts["status"], facts["status"])
    took = f" {facts['seconds']:.1f} s" if "seconds" in facts else ""
    reason = facts.get("code") or facts.get("cause")
    return f"{status} {facts['task']}{took}" + (f" ({reason})" if reason else "")


def _fact(value: object) -> str:
    if isinstance(value, dict | list | tuple):
        value = json.dumps(value, default=str, ensure_ascii=False)
    text = _printable(str(value))
    return f'"{text}"' if " " in text or not text else text


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
