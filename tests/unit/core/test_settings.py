from datetime import timedelta
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.settings import ModelSettings, Settings, load_client_settings, load_model_settings, load_settings


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch):
    import os

    for name in list(os.environ):
        if name.startswith(("MEMLANE_", "QWEN_CODE_", "OPENAI_")) or name == "XDG_RUNTIME_DIR":
            monkeypatch.delenv(name)


def test_defaults_stand_without_any_environment():
    settings = load_settings()

    assert (settings.host, settings.port, settings.lease_ms) == ("127.0.0.1", 4170, 8000)
    assert settings.memory_base == Path("~/.qwen").expanduser()


def test_the_environment_is_read_and_an_override_wins(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMLANE_PORT", "5000")
    monkeypatch.setenv("MEMLANE_WORKSPACES", "/a:/b")
    monkeypatch.setenv("MEMLANE_AGENT_COMMAND", "qwen --acp 'with blank'")

    assert load_settings().port == 5000
    assert load_settings(port=6000).port == 6000
    assert load_settings().workspaces == ("/a", "/b")
    assert load_settings().agent_command == ("qwen", "--acp", "with blank")


def test_an_override_that_was_not_given_does_not_hide_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMLANE_WORKSPACES", "/a")

    assert load_settings(workspaces=(), port=None).workspaces == ("/a",)


def test_a_bad_value_is_named_but_not_shown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMLANE_PORT", "s3cret-looking")

    with pytest.raises(ConfigError, match="MEMLANE_PORT") as refused:
        load_settings()

    assert "s3cret" not in str(refused.value)


def test_a_lease_without_room_for_renewals_is_refused():
    with pytest.raises(ConfigError, match="two renewals"):
        load_settings(lease_ms=4_000, renew_ms=2_000, margin_ms=1_500)


def test_the_memory_folder_of_ours_wins_over_the_shared_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("QWEN_CODE_MEMORY_BASE_DIR", "/shared-base")
    assert load_settings().memory_base == Path("/shared-base")

    assert load_settings(memory_dir=Path("/ours")).memory_base == Path("/ours")


def test_the_default_memory_base_is_told_apart_from_a_configured_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("QWEN_CODE_MEMORY_BASE_DIR", "")
    assert load_settings().memory_is_default

    assert not load_settings(memory_dir=Path("~/.qwen")).memory_is_default
    monkeypatch.setenv("QWEN_CODE_MEMORY_BASE_DIR", "~/.qwen")
    assert not load_settings().memory_is_default
    assert load_settings().memory_base == Path("~/.qwen").expanduser()


@pytest.mark.parametrize("value", ["true", "yes", "2", ""])
def test_local_memory_is_switched_on_by_1_only(monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv("QWEN_CODE_MEMORY_LOCAL", value)

    assert not load_settings().memory_local


def test_settings_that_are_loaded_don_t_change_with_the_environment(monkeypatch: pytest.MonkeyPatch):
    settings = load_settings()
    monkeypatch.setenv("QWEN_CODE_MEMORY_BASE_DIR", "/later")
    monkeypatch.setenv("QWEN_CODE_MEMORY_LOCAL", "1")

    assert settings.memory_base == Path("~/.qwen").expanduser()
    assert not settings.memory_local


def test_a_bad_model_setting_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMLANE_MODEL_TIMEOUT_S", "0")

    with pytest.raises(ConfigError, match="MEMLANE_MODEL_TIMEOUT_S: "):
        load_model_settings()


def test_where_the_service_is_found_has_a_default(monkeypatch: pytest.MonkeyPatch):
    assert load_client_settings().url == "http://127.0.0.1:4170"
    monkeypatch.setenv("MEMLANE_URL", "http://localhost:1")
    assert load_client_settings().url == "http://localhost:1"


def test_local_memory_is_off_unless_asked_for(monkeypatch: pytest.MonkeyPatch):
    assert not load_settings().memory_local
    monkeypatch.setenv("QWEN_CODE_MEMORY_LOCAL", "1")
    assert load_settings().memory_local


@pytest.mark.parametrize(
    ("state", "broker"),
    [
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/1"),
        ("redis://:pass@127.0.0.1:6379", "redis://:pass@127.0.0.1:6379/1"),
        ("unix:///run/a%20b.sock?db=0", "unix:///run/a%20b.sock?db=1"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock?db=1"),
    ],
)
def test_the_broker_is_the_next_database_of_the_same_server(state: str, broker: str):
    assert load_settings(redis_url=state).broker == broker


def test_a_broker_of_its_own_can_be_named():
    assert Settings(redis_url="redis://a", broker_url="redis://b").broker == "redis://b"


def test_no_redis_is_a_clear_error():
    with pytest.raises(ConfigError, match="MEMLANE_REDIS_URL"):
        _ = load_settings().state


@pytest.mark.parametrize(
    ("given", "offline"),
    [
        ({}, True),
        ({"openai_api_key": "k"}, True),
        ({"openai_model": "m"}, True),
        ({"openai_api_key": "k", "openai_model": "m"}, False),
        ({"openai_base_url": "u", "openai_model": "m"}, False),
    ],
)
def test_without_a_model_the_offline_model_serves(given: dict[str, str], offline: bool):
    assert ModelSettings.model_validate(given).offline is offline


def test_a_store_id_is_read_in_any_writing_and_an_empty_one_is_none(monkeypatch):
    monkeypatch.setenv("MEMLANE_STORE_ID", "6F1B0A52-3C9E-4D6B-8B63-0F6C5E1E9D11")
    assert load_settings().store_id == "6f1b0a52-3c9e-4d6b-8b63-0f6c5e1e9d11"

    monkeypatch.setenv("MEMLANE_STORE_ID", "")
    assert load_settings().store_id is None

    monkeypatch.setenv("MEMLANE_STORE_ID", "mine")
    with pytest.raises(ConfigError, match="MEMLANE_STORE_ID"):
        load_settings()


@pytest.mark.parametrize("name", ["policy_file", "memory_dir", "home", "agent_command", "port"])
def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.delenv(f"MEMLANE_{name.upper()}", raising=False)
    unset = getattr(load_settings(), name)

    monkeypatch.setenv(f"MEMLANE_{name.upper()}", "")

    assert getattr(load_settings(), name) == unset


@pytest.mark.parametrize(
    ("text", "seconds"), [("600s", 600), ("90m", 5_400), ("24h", 86_400), ("1d", 86_400)]
)
def test_a_duration_is_a_number_with_its_unit(monkeypatch: pytest.MonkeyPatch, text: str, seconds: int):
    monkeypatch.setenv("MEMLANE_DREAM_EVERY", text)

    assert load_settings().dream_every == timedelta(seconds=seconds)


def test_commits_keep_their_texts_for_ever_if_asked_to_and_never_less_long_than_records_live(
    monkeypatch: pytest.MonkeyPatch,
):
    kept_ms = {}
    for text in ("90d", "1h", "forever"):
        monkeypatch.setenv("MEMLANE_HISTORY_KEEP", text)
        kept_ms[text] = load_settings(task_ttl_s=7_200).history_keep_ms

    assert kept_ms == {"90d": 90 * 86_400_000, "1h": 7_200_000, "forever": None}


@pytest.mark.parametrize("text", ["59m", "0d", "never", "-1d"])
def test_texts_that_are_kept_for_less_than_an_hour_are_refused(monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.setenv("MEMLANE_HISTORY_KEEP", text)

    with pytest.raises(ConfigError, match=r"(?i)history_keep"):
        load_settings()


@pytest.mark.parametrize("text", ["59s", "0h", "daily", "24 h", "-1h", "25h", "999999999d"])
def test_a_pause_between_dreams_that_makes_no_sense_is_refused(monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.setenv("MEMLANE_DREAM_EVERY", text)

    with pytest.raises(ConfigError, match=r"(?i)dream_every"):
        load_settings()
