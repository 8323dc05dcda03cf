"""The reference's agent child (`qwen --acp`), and a whole service that uses it, on a scripted model."""

import json
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memlane.client import Client
from tests.support.child_processes import command_of, descendants_of
from tests.support.memlane_up import Running, environment, running_memlane
from tests.support.scripted_model import Answer, Body, ScriptedModel, says, scripted_model
from tests.support.service import part_of
from tests.support.waiting import until

LOOPBACK_ONLY = Path(__file__).parents[1] / "interop" / "loopback_only.cjs"
QUIET = {
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}
TIMEOUT_S = 8  # of a task


def install_folder() -> Path:
    """Where `./dev interop` has put the reference."""
    found = os.environ.get("INTEROP_HOME")
    assert found, "run these tests by ./dev interop"
    return Path(found) / "node_modules" / ".bin"


def command(places: Path) -> list[str]:
    """Start the reference's child; what it connects to gets a line each in the file ``places``."""
    return [
        "env",
        f"NODE_OPTIONS=--require={LOOPBACK_ONLY}",
        f"INTEROP_PLACES={places}",
        str(install_folder() / "node"),
        str(install_folder() / "qwen"),
        "--acp",
    ]


def write_quiet_settings(home: Path) -> None:
    """Have a child with this home folder send no statistics, and look for no update."""
    (home / ".qwen").mkdir(parents=True)
    (home / ".qwen" / "settings.json").write_text(json.dumps(QUIET))


@dataclass
class Script:
    """What the model says next; "Done." when nothing is left."""

    answers: list[Answer] = field(default_factory=list)

    def __call__(self, _request: Body) -> Answer:
        return self.answers.pop(0) if self.answers else says("Done.")


@dataclass(frozen=True, slots=True)
class ReferenceService:
    """A running service whose agent child is the reference's."""

    running: Running
    client: Client
    model: ScriptedModel
    script: Script
    folder: Path

    @property
    def workspace(self) -> Path:
        """The only workspace."""
        return self.folder / "workspace"

    @property
    def user(self) -> Path:
        """The user's memory root."""
        return self.folder / "memory" / "memories"

    @property
    def project(self) -> Path:
        """The workspace's memory root."""
        (found,) = (self.folder / "memory" / "projects").glob("*/memory")
        return found

    def answer(self, *answers: Answer) -> None:
        """Have the model say this next, and nothing of what it was to say before."""
        self.script.answers[:] = answers
        self.model.requested.clear()

    def children(self) -> list[int]:
        """Process ids of the reference's processes, parents first."""
        worker = part_of(self.running, "worker")
        return [pid for pid in descendants_of(worker) if Path(command_of(pid)[0]).name == "node"]

    def wait_asked(self) -> None:
        """Wait until the model has been asked something since ``answer``, and has no answer left."""
        until(lambda: self.model.requested.is_set() and not self.script.answers)


@contextmanager
def reference_service(folder: Path) -> Iterator[ReferenceService]:
    """Run a service for the body; afterwards the reference may have spoken to its model, nobody else."""
    places, script = folder / "places", Script()
    write_quiet_settings(folder)
    with scripted_model(script) as model:
        settings = {
            "MEMLANE_AGENT_COMMAND": shlex.join(command(places)),
            "MEMLANE_AGENT_TIMEOUT_S": str(TIMEOUT_S),
        }
        env = environment(folder, **model.settings, **settings)
        with (
            running_memlane(folder, env=env) as running,
            Client(running.url, running.token) as client,
        ):
            yield ReferenceService(running, client, model, script, folder)
        model_place = model.base_url.removeprefix("http://").removesuffix("/v1")
        assert set(places.read_text().split()) == {model_place}
