"""Runs a fake agent child: the process that ``fake_child.command`` starts."""

import json
import os
import sys
from pathlib import Path

import tests.support.fake_child_talk  # noqa: F401 - makes its kinds known
from tests.support.fake_child import (
    AVAILABILITY,
    CANCEL,
    PING,
    RECORD,
    REMEMBER,
    RESOLVE,
    SNAPSHOT,
    STARTED,
    UNDO,
    WELL,
    Child,
)


def behaviours(kind: type[Child] = Child) -> dict[str, type[Child]]:
    """All kinds of child by name."""
    named = {kind.__name__: kind}
    for special in kind.__subclasses__():
        named |= behaviours(special)
    return named


def main() -> None:
    with Path(STARTED).open("a") as listing:
        listing.write(f"{os.getpid()} {os.getpgrp()}\n")
    child, well = behaviours()[_behaviour()](), Child()
    child.starts()
    methods = {
        "initialize": child.initialize,
        PING: child.ping,
        AVAILABILITY: child.available,
        REMEMBER: child.remember,
        RESOLVE: child.resolve,
        UNDO: child.undo,
        CANCEL: child.cancel,
        SNAPSHOT: child.snapshot,
        RECORD: child.record,
    }
    while line := sys.stdin.buffer.readline():
        body = json.loads(line)
        if body["method"] in (REMEMBER, UNDO) and Path("taken").is_fifo():
            Path("taken").write_text("taken")
        is_well = body["method"] == REMEMBER and body["params"]["content"] == WELL
        method = well.remember if is_well else methods[body["method"]]
        method(body["id"], body["params"])
    child.input_ends()


def _behaviour() -> str:
    for kind, _, path in (marker.partition("=") for marker in sys.argv[2:]):
        if Path(path).exists():
            return "Child"
        if kind == "first":
            Path(path).touch()
    return sys.argv[1]
