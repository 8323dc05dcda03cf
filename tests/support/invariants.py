"""The one checker of what lanes promise, from what they left behind: events, records, journal, documents."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jobs.limits import MAX_PENDING, MAX_RECORDS, MAX_UPKEEP
from jobs.tasks import TERMINAL
from tests.support.history import Commit, LaneHistory, Step
from tests.support.memory import documents_below


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise.

    Attributes:
        invariant: ``I1`` order of starts, ``I2`` one run at a time, ``I3`` commits under rising fences and
            once a task, ``I4`` every accepted task ends and stays ended, ``I5`` nothing runs at the end,
            ``I6`` commits fit outcomes and are announced once, ``I7`` caps, ``events`` dense numbers,
            ``rest`` nothing left over, ``documents`` files are what the journal says.
        lane: workspace id; the file's name for ``documents``.
    """

    invariant: str
    lane: str
    facts: str


def check(lanes: Sequence[LaneHistory], *, lease_ms: int = 0) -> list[Violation]:
    """Check lanes whose work is done.

    Args:
        lease_ms: least time between two attempts of a task; 0 where a worker can be proven dead sooner.
    """
    return [
        Violation(invariant, lane.workspace, facts)
        for lane in lanes
        for rule in (_replayed(lease_ms), _numbered, _committed, _ended, _kept, _at_rest)
        for invariant, facts in rule(lane)
    ]


def check_documents(base: Path, commits: Sequence[Commit]) -> list[Violation]:
    """Check that the memory documents below ``base`` are what the journal's last word on each is."""
    wanted: dict[Path, str | None] = {}
    for commit in commits:
        wanted |= {base / change.root / change.path: change.new for change in commit.changes}
    found = {path: path.read_text() for path in documents_below(base)}
    return [
        Violation("documents", path.name, _difference(wanted.get(path), found.get(path)))
        for path in sorted({*wanted, *found})
        if wanted.get(path) != found.get(path)
    ]


_Finding = tuple[str, str]
_Rule = Callable[[LaneHistory], Iterator[_Finding]]


def _replayed(lease_ms: int) -> _Rule:
    return lambda lane: _Replay(lease_ms).run(lane.steps)


@dataclass(slots=True)
class _Life:
    """A task on its way through the log."""

    kind: str
    state: str = "queued"
    attempt: int = 0
    started_ms: int = 0
    handed_back: bool = False


class _Replay:
    """Goes through a lane's log as it happened."""

    def __init__(self, lease_ms: int) -> None:
        self._lease_ms = lease_ms
        self._lives: dict[str, _Life] = {}  # in the order of acceptance
        self._last_end = ""

    def run(self, steps: Sequence[Step]) -> Iterator[_Finding]:
        for step in steps:
            if step.type == "memory_changed":
                if step.task != self._last_end:
                    yield "I6", f"memory_changed of {step.task} does not follow its end"
                continue
            self._last_end = ""
            life = self._lives.get(step.task)
            if life is None:
                yield from self._accept(step)
            elif life.state in TERMINAL:
                yield "I4", f"{step.task} is {life.state}, then {step.type}"
            elif step.type == "task_queued":
                yield from self._hand_back(step, life)
            elif step.type == "task_running":
                yield from self._start(step, life)
            else:
                yield from self._end(step, life)

    def _accept(self, step: Step) -> Iterator[_Finding]:
        if step.type != "task_queued":
            yield "I4", f"{step.task} is {step.type} before it was accepted"
        self._lives[step.task] = _Life(step.kind)
        open_kinds = [life.kind for life in self._lives.values() if life.state not in TERMINAL]
        upkeep = [kind for kind in open_kinds if kind != "remember"]
        if len(open_kinds) > MAX_PENDING or len(upkeep) > MAX_UPKEEP:
            yield "I7", f"{len(open_kinds)} unfinished, {len(upkeep)} of them upkeep, with {step.task}"

    def _hand_back(self, step: Step, life: _Life) -> Iterator[_Finding]:
        # one that is resolved runs without an event of its own, and may be handed back again
        if not life.attempt:
            yield "I1", f"{step.task} was handed back without having run"
        life.state, life.handed_back = "queued", True

    def _start(self, step: Step, life: _Life) -> Iterator[_Finding]:
        for other, other_life in self._lives.items():
            if other == step.task:
                break
            if other_life.state not in TERMINAL:
                yield "I1", f"{step.task} started before {other} had ended"
        running = [name for name, each in self._lives.items() if each.state == "running" and each is not life]
        if running:
            yield "I2", f"{step.task} started while {running} ran"
        yield from self._check_attempt(step, life)
        life.state, life.attempt, life.started_ms, life.handed_back = (
            "running",
            step.attempt,
            step.at_ms,
            False,
        )

    def _check_attempt(self, step: Step, life: _Life) -> Iterator[_Finding]:
        if life.state == "running" and step.at_ms - life.started_ms < self._lease_ms:
            yield (
                "I2",
                f"{step.task} started again {step.at_ms - life.started_ms} ms after attempt {life.attempt}",
            )
        free = 0 if life.handed_back else 1  # a hand-back gives the attempt back, unless it counts as a loss
        if not life.attempt + free <= step.attempt <= life.attempt + 1:
            yield "I2", f"{step.task} started as attempt {step.attempt} after {life.attempt}"

    def _end(self, step: Step, life: _Life) -> Iterator[_Finding]:
        if step.status == "completed" and not life.attempt:
            yield "I4", f"{step.task} completed without having run"
        life.state = step.status
        self._last_end = step.task


def _numbered(lane: LaneHistory) -> Iterator[_Finding]:
    ids = [step.id for step in lane.steps]
    last = int(lane.lane.get("eventSeq", "0"))
    if ids != list(range(1, last + 1)):
        missing = sorted(set(range(1, last + 1)) - set(ids))
        yield "events", f"{len(ids)} events of {last}, missing {missing[:10]}"


def _committed(lane: LaneHistory) -> Iterator[_Finding]:
    fence = 0
    for commit in lane.commits:
        if commit.fence <= fence:
            yield "I3", f"{commit.task} committed under {commit.fence} after {fence}"
        fence = commit.fence
    if fence > lane.stored_fence:
        yield "I3", f"the store holds fence {lane.stored_fence}, a commit has {fence}"
    tasks = [commit.task for commit in lane.commits]
    yield from (("I3", f"{task} committed twice") for task in sorted(set(tasks)) if tasks.count(task) > 1)
    accepted = lane.acceptance
    if tasks != [task for task in accepted if task in tasks]:
        yield "I3", f"commits are not in the order of acceptance: {tasks}"


def _ended(lane: LaneHistory) -> Iterator[_Finding]:
    ends, changed = lane.ends, lane.changes_announced
    commits = {commit.task: commit for commit in lane.commits}
    for task in sorted({*lane.accepted, *lane.acceptance, *lane.records}):
        status = ends.get(task)
        if status is None:
            yield "I4", f"{task} was accepted and never ended"
            continue
        record = lane.records.get(task)
        if record is not None and record.get("status") != status:
            yield "I4", f"{task} ended {status}, its record says {record.get('status')}"
        commit = commits.get(task)
        if status != "completed" and commit is not None:
            yield "I6", f"{task} ended {status} and has committed"
        if status == "completed" and commit is None and lane.touched(task):
            yield "I6", f"{task} completed with changes and has no commit"
        announced = changed.count(task)
        due = 1 if status == "completed" and commit is not None and commit.changes else 0
        if announced != due:
            yield "I6", f"memory_changed came {announced} times for {task}, not {due}"
    for task in sorted(set(commits) - set(ends)):
        yield "I6", f"{task} has committed and never ended"


def _kept(lane: LaneHistory) -> Iterator[_Finding]:
    if len(lane.records) > MAX_RECORDS:
        yield "I7", f"{len(lane.records)} records"
    times = lane.end_times
    gone = [at for task, at in times.items() if task not in lane.records]
    kept = [at for task, at in times.items() if task in lane.records]
    if gone and kept and max(gone) > min(kept):
        yield "I7", f"a record that ended at {max(gone)} is gone, one of {min(kept)} is kept"
    for name, members in (("index", lane.index), ("done", lane.done)):
        if members != set(lane.records):
            yield "I7", f"{name} and records differ by {sorted(members ^ set(lane.records))[:5]}"


def _at_rest(lane: LaneHistory) -> Iterator[_Finding]:
    running = lane.lane.get("running")
    if running or any(record.get("status") == "running" for record in lane.records.values()):
        yield "I5", f"the lane still runs {running or 'a task'}"
    left = [name for name in ("pending", "due", "wait") if getattr(lane, name)]
    if left:
        yield "rest", f"left over: {', '.join(left)}"


def _difference(wanted: str | None, found: str | None) -> str:
    if found is None:
        return "it is missing"
    return "nothing in the journal made it" if wanted is None else "its text is not the journal's"
