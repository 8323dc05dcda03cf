import json
import shlex
import sys
from pathlib import Path

import pytest

from core.settings import load_settings
from core.workspaces import Workspaces
from memlane.cli.announcement import Announcement
from memlane.model_choice import ModelChoice
from memlane.site import Site

OFFLINE = ModelChoice(None, "offline", "offline rules")


def announcement(
    tmp_path: Path,
    *,
    token_file: Path | None,
    folders: int = 1,
    url: str = "http://127.0.0.1:4170",
    model: ModelChoice = OFFLINE,
) -> Announcement:
    paths = [tmp_path / f"ws{number}" for number in range(folders)]
    for path in paths:
        path.mkdir()
    settings = load_settings(home=tmp_path / "home", memory_dir=tmp_path)
    site = Site(settings, Workspaces(map(str, paths)), "secret", token_file)
    return Announcement(site, url, "unix:///r.sock?db=0", model)


def test_programs_get_exactly_one_json_line(tmp_path):
    text = announcement(tmp_path, token_file=tmp_path / "token").as_json()

    assert text.count("\n") == 1
    assert set(json.loads(text)) == {"url", "tokenFile", "redisUrl", "pid", "model"}


def test_people_get_url_token_file_and_a_command_but_never_the_token(tmp_path):
    text = announcement(tmp_path, token_file=tmp_path / "my token").as_text()

    assert "http://127.0.0.1:4170" in text
    assert str(tmp_path / "my token") in text
    assert "model      offline rules\n" in text
    assert "secret" not in text
    assert "warning" not in text


def test_what_is_set_in_vain_is_told(tmp_path):
    model = ModelChoice(None, "offline", "offline rules", "OPENAI_MODEL is set in vain")

    assert (
        "  warning    OPENAI_MODEL is set in vain\n"
        in announcement(tmp_path, token_file=None, model=model).as_text()
    )


def test_the_command_to_try_names_what_differs_from_the_defaults(tmp_path):
    token_file, url = tmp_path / "it's mine", "http://127.0.0.1:5000"

    words = shlex.split(announcement(tmp_path, token_file=token_file, url=url).try_command())

    assert words[-4:] == ["--url", url, "--token-file", str(token_file)]


def test_with_the_defaults_the_command_to_try_is_short(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))

    words = shlex.split(announcement(tmp_path, token_file=tmp_path / ".memlane" / "token").try_command())

    assert words[1:] == ["remember", "I like short answers.", "--wait"]


@pytest.mark.parametrize("on_path", [True, False])
def test_the_command_to_try_is_found_by_a_shell(tmp_path, monkeypatch, on_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    (tmp_path / "memlane").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) if on_path else "/nowhere")

    words = shlex.split(announcement(tmp_path, token_file=None).try_command())

    assert words[0] == ("memlane" if on_path else str(tmp_path / "memlane"))


def test_without_an_installed_program_the_command_to_try_is_the_module(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    words = shlex.split(announcement(tmp_path, token_file=None).try_command())

    assert words[:3] == [str(tmp_path / "python"), "-m", "memlane"]


def test_a_given_token_is_not_asked_of_a_file(tmp_path):
    told = announcement(tmp_path, token_file=None)

    assert json.loads(told.as_json())["tokenFile"] is None
    assert "as given by you" in told.as_text()
    assert "--token-file" not in told.as_text()


def test_an_open_address_names_what_it_exposes(tmp_path):
    told = announcement(tmp_path, token_file=None, folders=2).exposure()

    assert "port 4170 on 127.0.0.1:" in told
    assert "2 workspaces, unencrypted" in told


def test_channels_are_told_where_some_are_configured(tmp_path):
    made = announcement(tmp_path, token_file=None)
    assert "memlane ops channels" not in made.as_text()

    made.site.settings.home.mkdir()
    made.site.settings.channels_path.write_text("{}")

    assert f"  channels   {tmp_path / 'home' / 'channels.json'} (memlane ops channels" in made.as_text()
