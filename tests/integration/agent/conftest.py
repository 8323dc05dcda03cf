"""The real child, offline or on a scripted model server."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.agent_child import AgentChild, agent_child
from tests.support.scripted_model import MODEL_NAME, Script, ScriptedModel, scripted_model

StartChild = Callable[[Script], tuple[AgentChild, ScriptedModel]]

KEY = "sk-test-key"


@pytest.fixture
def offline(tmp_path: Path) -> Iterator[AgentChild]:
    with agent_child(tmp_path) as child:
        yield child


@pytest.fixture
def start_child(tmp_path: Path) -> Iterator[StartChild]:
    with ExitStack() as stack:

        def start(script: Script) -> tuple[AgentChild, ScriptedModel]:
            model = stack.enter_context(scripted_model(script))
            settings = {
                "OPENAI_BASE_URL": model.base_url,
                "OPENAI_API_KEY": KEY,
                "OPENAI_MODEL": MODEL_NAME,
            }
            return stack.enter_context(agent_child(tmp_path, settings)), model

        yield start
