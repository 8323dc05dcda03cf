import json
import subprocess
from pathlib import Path

from core.settings import load_settings
from core.workspaces import Workspaces
from memlane.cli.announcement import Announcement
from memlane.site import Site


def announcement(tmp_path: Path, *, token_file: Path | None, folders: int = 1) -> Announcement:
    paths = [tmp_path / f"ws{number}" for number in range(folders)]
    for path in paths:
        path.mkdir()
    settings = load_settings(home=tmp_path / "home", memory_dir=tmp_path)
    site = Site(settings, Workspaces(map(str, paths)), "secret", token_file)
    return Announcement(site, "http://127.0.0.1:4170", "unix:///r.sock?db=0")


def test_programs_get_exactly_one_json_line(tmp_path):
    text = announcement(tmp_path, token_file=tmp_path / "token").as_json()

    assert text.count("\n") == 1
    assert set(json.loads(text)) == {"url", "tokenFile", "redisUrl", "pid"}


def test_people_get_url_token_file_and_a_command_but_never_the_token(tmp_path):
    text = announcement(tmp_path, token_file=tmp_path / "my token").as_text()

    assert "http://127.0.0.1:4170" in text
    assert str(tmp_path / "my token") in text
    assert "secret" not in text


def test_the_command_works_in_a_shell_whatever_the_token_file_is_called(tmp_path):
    token_file = tmp_path / "it's mine"
    token_file.write_text("secret\n")
    line = announcement(tmp_path, token_file=token_file).curl()

    answer = subprocess.run(
        ["/bin/sh", "-c", f"curl() {{ printf '%s\\n' \"$@\"; }}; {line}"],
        capture_output=True,
        text=True,
        check=True,
    )

    words = answer.stdout.splitlines()
    assert "Authorization: Bearer secret" in words
    assert json.loads(words[words.index("-d") + 1])["content"]
    assert words[-1] == "http://127.0.0.1:4170/workspace/memory/remember"


def test_a_given_token_is_taken_from_the_environment(tmp_path):
    told = announcement(tmp_path, token_file=None)

    assert "$MEMLANE_TOKEN" in told.curl()
    assert json.loads(told.as_json())["tokenFile"] is None
    assert "as given by you" in told.as_text()


def test_an_open_address_names_what_it_exposes(tmp_path):
    told = announcement(tmp_path, token_file=None, folders=2).exposure()

    assert "port 4170 on 127.0.0.1:" in told
    assert "2 workspaces, unencrypted" in told
