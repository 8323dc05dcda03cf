import pytest

from core.settings import ModelSettings, load_settings
from memlane.model_choice import choose_model


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "MEMLANE_AGENT_COMMAND"):
        monkeypatch.delenv(name, raising=False)


def choice(**given: str):
    return choose_model(load_settings(), ModelSettings.model_validate(given))


def test_without_settings_the_offline_rules_serve():
    found = choice()

    assert (found.name, found.label, found.warning) == (None, "offline", None)
    assert found.line.startswith("offline rules (set OPENAI_BASE_URL,")


def test_a_model_is_named_with_where_it_is():
    found = choice(openai_model="gpt", openai_base_url="http://127.0.0.1:1/v1")

    assert (found.name, found.label, found.line) == ("gpt", "gpt", "gpt at http://127.0.0.1:1/v1")
    assert choice(openai_model="gpt", openai_api_key="key").line == "gpt"


@pytest.mark.parametrize(
    ("given", "warning"),
    [
        ({"openai_model": "gpt"}, "OPENAI_MODEL is set, but no model is used without OPENAI_BASE_URL or"),
        ({"openai_api_key": "key"}, "OPENAI_API_KEY is set, but no model is used without OPENAI_MODEL"),
        (
            {"openai_api_key": "key", "openai_base_url": "http://h"},
            "OPENAI_BASE_URL and OPENAI_API_KEY are set, but no model is used without OPENAI_MODEL",
        ),
    ],
)
def test_what_is_set_in_vain_is_named(given, warning):
    found = choice(**given)

    assert (found.name, found.label) == (None, "offline")
    assert found.warning is not None
    assert found.warning.startswith(warning)


def test_an_agent_of_ones_own_chooses_itself(monkeypatch):
    monkeypatch.setenv("MEMLANE_AGENT_COMMAND", "./bin/qwen --acp")

    found = choice(openai_model="gpt")

    assert (found.label, found.line) == ("qwen", "as qwen chooses (MEMLANE_AGENT_COMMAND)")
