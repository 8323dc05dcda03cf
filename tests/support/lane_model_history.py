"""What must be true of a lane's event log, whatever the model says of each step."""

import json
from collections.abc import Sequence

from events.envelope import Envelope

ENDS = {"task_completed", "task_failed", "task_cancelled"}


def violations(events: Sequence[Envelope]) -> list[str]:
    """Order of starts, one run at a time, one end a task, and nothing after it."""
    accepted: list[str] = []
    started: list[str] = []
    ended: list[str] = []
    open_run: str | None = None
    found = []
    for event in events:
        task = json.loads(event.data_json)["taskId"]
        where = f"event {event.id}: {event.type} of {task}"
        if task in ended and event.type != "memory_changed":
            found.append(f"{where} after its end")
        if event.type == "task_queued":
            accepted += [] if task in accepted else [task]
            open_run = None if open_run == task else open_run
        elif event.type == "task_running":
            found += [f"{where} while {open_run} runs"] if open_run not in (None, task) else []
            started += [] if task in started else [task]
            open_run = task
        elif event.type in ENDS:
            ended.append(task)
            open_run = None if open_run == task else open_run
    if started != [task for task in accepted if task in started]:
        found.append(f"started in the order {started}, accepted in the order {accepted}")
    return found
