import pytest
from structlog.testing import capture_logs

from agent.models.choice import open_fast_model, open_model
from agent.models.openai import OpenAIModel
from core.settings import ModelSettings

NAMES = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL")


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "given",
    [
        {"OPENAI_API_KEY": "sk-secret"},
        {"OPENAI_MODEL": "gpt"},
        {"OPENAI_BASE_URL": "http://h"},
        {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": "http://h", "OPENAI_MODEL": ""},
    ],
)
def test_settings_that_name_no_whole_model_are_said_to_be_in_vain(given: dict[str, str]) -> None:
    with capture_logs() as logs:
        model = open_model(settings_of(given))

    assert model.name == "offline"
    (line,) = logs
    assert (line["event"], line["log_level"]) == ("model_settings_incomplete", "warning")
    assert line["given"] == sorted(name for name, value in given.items() if value)
    assert "secret" not in str(line)


@pytest.mark.parametrize("given", [{}, {"OPENAI_MODEL": "", "OPENAI_API_KEY": ""}])
def test_without_settings_the_offline_model_serves_and_nothing_is_said(given: dict[str, str]) -> None:
    with capture_logs() as logs:
        assert open_model(settings_of(given)).name == "offline"

    assert logs == []


@pytest.mark.parametrize("beside", ["OPENAI_API_KEY", "OPENAI_BASE_URL"])
def test_a_model_with_a_key_or_a_server_serves_by_its_name(beside: str) -> None:
    with capture_logs() as logs:
        model = open_model(settings_of({"OPENAI_MODEL": "gpt", beside: "http://h"}))

    assert isinstance(model, OpenAIModel)
    model.close()
    assert (model.name, logs) == ("gpt", [])


def settings_of(given: dict[str, str]) -> ModelSettings:
    known = {name.lower() if name.startswith("OPENAI_") else name: value for name, value in given.items()}
    return ModelSettings.model_validate(known)


def test_short_questions_go_to_the_fast_model_and_without_one_to_the_other() -> None:
    given = {"OPENAI_MODEL": "gpt", "OPENAI_API_KEY": "k"}

    assert open_fast_model(settings_of(given)).name == "gpt"
    assert open_fast_model(settings_of(given | {"MEMLANE_FAST_MODEL": "mini"})).name == "mini"
    assert open_fast_model(settings_of({})).name == "offline"
