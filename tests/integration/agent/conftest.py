"""The real child, offline or on a scripted model server."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.agent_child import AgentChild, StartChild, agent_child
from tests.support.scripted_model import Script, ScriptedModel, scripted_model


@pytest.fixture
def offline(tmp_path: Path) -> Iterator[AgentChild]:
    with agent_child(tmp_path) as child:
        yield child


@pytest.fixture
def start_child(tmp_path: Path, unmeasured: None) -> Iterator[StartChild]:
    with ExitStack() as stack:

        def start(script: Script) -> tuple[AgentChild, ScriptedModel]:
            model = stack.enter_context(scripted_model(script))
            return stack.enter_context(agent_child(tmp_path, model.settings)), model

        yield start
