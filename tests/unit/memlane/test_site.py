import os
import stat
from contextlib import ExitStack
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.settings import load_settings
from memlane.folders import FolderLocked
from memlane.parts import RedisUrls, worker_part
from memlane.run_record import read_run_record, recorded
from memlane.site import open_site, token_of, workspaces_at_hand, workspaces_of


@pytest.fixture
def held():
    with ExitStack() as stack:
        yield stack


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("MEMLANE_TOKEN", "MEMLANE_HOME", "MEMLANE_MEMORY_DIR", "QWEN_CODE_MEMORY_BASE_DIR"):
        monkeypatch.delenv(name, raising=False)


def settings(tmp_path: Path, **changes):
    (tmp_path / "workspace").mkdir(exist_ok=True)
    given = {"home": tmp_path / "home", "workspaces": (str(tmp_path / "workspace"),)}
    return load_settings(**(given | changes))


def test_the_home_is_made_private_with_a_token(tmp_path, held):
    site = open_site(settings(tmp_path), held_by=held)

    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700
    assert site.token_file == tmp_path / "home" / "token"
    assert (tmp_path / "home" / "token").read_text().strip() == site.token
    assert token_of(site.settings) == site.token


def test_without_workspaces_the_current_folder_is_served(tmp_path, held, monkeypatch):
    monkeypatch.chdir(tmp_path)

    site = open_site(settings(tmp_path, workspaces=()), held_by=held)

    assert site.workspaces.primary.path == str(tmp_path.resolve())


def test_a_given_token_is_not_written_anywhere(tmp_path, held):
    site = open_site(settings(tmp_path, token="given"), held_by=held)

    assert (site.token, site.token_file) == ("given", None)
    assert not (tmp_path / "home" / "token").exists()
    assert token_of(site.settings) == "given"


def test_a_home_may_have_no_token(tmp_path):
    assert token_of(settings(tmp_path)) is None


def test_one_home_serves_one_instance(tmp_path, held):
    open_site(settings(tmp_path), held_by=held)

    with pytest.raises(FolderLocked, match=r"another memlane runs on .*/home already; .* --home"):
        open_site(settings(tmp_path), held_by=held)


def test_who_runs_on_a_home_is_told_to_the_next_one(tmp_path, held):
    site = open_site(settings(tmp_path), held_by=held)

    with recorded(site.settings.home, "http://127.0.0.1:5", []):
        assert stat.S_IMODE((site.settings.home / "run.json").stat().st_mode) == 0o600
        with pytest.raises(FolderLocked, match=rf"http://127.0.0.1:5 \(process {os.getpid()}\) runs on"):
            open_site(settings(tmp_path), held_by=held)

    assert read_run_record(site.settings.home) is None


def test_a_home_that_can_not_be_made_is_told_with_what_moves_it(tmp_path, held):
    (tmp_path / "home").write_text("")

    with pytest.raises(ConfigError, match="that is the home folder, MEMLANE_HOME or --home moves it"):
        open_site(settings(tmp_path, home=tmp_path / "home" / "below"), held_by=held)


def test_a_default_memory_folder_that_can_not_be_made_is_told_with_what_moves_it(tmp_path, held):
    (tmp_path / ".qwen").write_text("")

    with pytest.raises(ConfigError, match="that is the memory folder, MEMLANE_MEMORY_DIR or --memory-dir"):
        open_site(settings(tmp_path), held_by=held)


def test_a_file_is_no_memory_folder(tmp_path, held):
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match="/file is not a folder"):
        open_site(settings(tmp_path, memory_dir=tmp_path / "file"), held_by=held)


def test_web_and_worker_serve_what_they_are_told_only(tmp_path):
    assert workspaces_of(settings(tmp_path)).primary.path == str((tmp_path / "workspace").resolve())

    with pytest.raises(ConfigError, match="set MEMLANE_WORKSPACES"):
        workspaces_of(settings(tmp_path, workspaces=()))


def test_a_workspace_folder_that_vanished_does_not_keep_the_others_from_being_served(tmp_path):
    both = (str(tmp_path / "vanished"), str(tmp_path / "workspace"))

    served = workspaces_of(settings(tmp_path, workspaces=both))

    assert [workspace.path for workspace in served] == [os.path.realpath(path) for path in both]


def test_the_default_memory_base_is_made_when_missing(tmp_path, held):
    open_site(settings(tmp_path), held_by=held)

    assert stat.S_IMODE((tmp_path / ".qwen").stat().st_mode) == 0o700


def test_the_memory_base_that_other_tools_are_told_of_has_to_exist(tmp_path, held, monkeypatch):
    monkeypatch.setenv("QWEN_CODE_MEMORY_BASE_DIR", str(tmp_path / ".qwen"))

    with pytest.raises(ConfigError, match="does not exist"):
        open_site(settings(tmp_path), held_by=held)


def test_a_configured_memory_base_has_to_exist(tmp_path, held):
    with pytest.raises(ConfigError, match=r"memory folder .*/missing does not exist"):
        open_site(settings(tmp_path, memory_dir=tmp_path / "missing"), held_by=held)
    assert not (tmp_path / "missing").exists()


def test_a_memory_base_must_be_writable(tmp_path, held, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)

    with pytest.raises(ConfigError, match="is not writable"):
        open_site(settings(tmp_path), held_by=held)


def test_a_missing_workspace_is_one_clear_line(tmp_path, held):
    with pytest.raises(ConfigError, match="workspace '/no/such/place' does not exist"):
        open_site(settings(tmp_path, workspaces=("/no/such/place",)), held_by=held)


def test_a_workspace_with_a_colon_in_its_path_is_refused(tmp_path, held):
    (tmp_path / "a:b").mkdir()
    site = open_site(settings(tmp_path, workspaces=(str(tmp_path / "a:b"),)), held_by=held)

    with pytest.raises(ConfigError, match="which separates workspaces"):
        worker_part(site, RedisUrls("redis://127.0.0.1/0", "redis://127.0.0.1/1"))


def test_commands_work_where_the_running_service_does(tmp_path, monkeypatch):
    here, home = tmp_path / "here", tmp_path / "home"
    for folder in (here, home):
        folder.mkdir()
    monkeypatch.chdir(here)
    unset = settings(tmp_path, workspaces=())

    assert workspaces_at_hand(unset).primary.path == str(here)
    with recorded(home, "http://127.0.0.1:1", [str(tmp_path / "workspace")]):
        assert workspaces_at_hand(unset).primary.path == str(tmp_path / "workspace")
        configured = settings(tmp_path, workspaces=(str(home),))
        assert workspaces_at_hand(configured).primary.path == str(home)
