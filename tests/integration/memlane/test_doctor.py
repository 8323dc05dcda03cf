"""`memlane doctor`."""

import json

import pytest

from memory.index import build_index
from memory.store import open_store
from tests.support.command_line import run
from tests.support.memory import MemoryBase, fenced_task, note


@pytest.fixture
def memory_base(tmp_path, monkeypatch):
    made = MemoryBase(tmp_path.resolve())
    made.commit(open_store(made.path), fenced_task(), {made.user / "user/tea.md": note()})
    monkeypatch.setenv("MEMLANE_MEMORY_DIR", str(made.path))
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path / "home"))
    for name in ("MEMLANE_WORKSPACES", "QWEN_CODE_MEMORY_LOCAL"):
        monkeypatch.delenv(name, raising=False)
    return made


def test_nothing_wrong_ends_with_zero(memory_base, capsys):
    assert run("doctor") == 0
    assert run("doctor", str(memory_base.workspace)) == 0

    assert capsys.readouterr().out == "nothing is wrong\n" * 2


def test_a_finding_is_told_with_its_mend_and_ends_with_one(memory_base, capsys):
    (memory_base.user / "user/tea.md").chmod(0o644)

    assert run("doctor") == 1

    place, mend, count = capsys.readouterr().out.splitlines()
    assert place == f"{memory_base.user}/user/tea.md: Its mode is 0644, not 0600."
    assert mend.startswith("    Take the permissions away")
    assert count == "1 finding, 1 for `memlane doctor --fix`"


def test_fix_mends_what_needs_no_judgement_and_tells_what_is_left(memory_base, capsys):
    (memory_base.user / "MEMORY.md").write_bytes(b"# Mine")
    memory_base.put(memory_base.user / "user/odd.md", b"no header").chmod(0o600)

    assert run("doctor", "--fix") == 1

    mended, place, _, count = capsys.readouterr().out.splitlines()
    assert mended.startswith(f"mended: {memory_base.user}: ")
    assert place.startswith(f"{memory_base.user}/user/odd.md: ")
    assert count == "1 finding"
    assert (memory_base.user / "MEMORY.md").read_text() == build_index(memory_base.user)


def test_a_tokens_file_that_can_not_be_used_is_found(memory_base, capsys, tmp_path):
    tokens = tmp_path / "home" / "tokens.json"
    tokens.parent.mkdir()
    tokens.write_text("{")

    assert run("doctor", "--json") == 1

    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["code"], finding["path"], finding["mendable"]) == ("tokens_unusable", str(tokens), False)
    assert tokens.read_text() == "{"
    assert run("doctor", str(memory_base.workspace)) == 0


def test_fix_ends_with_zero_when_nothing_is_left(memory_base):
    (memory_base.user / "user").chmod(0o755)

    assert run("doctor", "--fix") == 0
    assert run("doctor") == 0


def test_findings_come_as_json(memory_base, capsys):
    (memory_base.user / "user").chmod(0o755)

    assert run("doctor", "--json") == 1
    assert run("doctor", "--json", "--fix") == 0

    before, after = map(json.loads, capsys.readouterr().out.splitlines())
    (finding,) = before["findings"]
    assert (finding["code"], finding["path"]) == ("mode", f"{memory_base.user}/user")
    assert finding["mendable"] is True
    assert (before["mended"], after["findings"], after["mended"]) == ([], [], [finding])


def test_only_the_workspace_asked_for_is_looked_at(memory_base, tmp_path):
    other = MemoryBase(tmp_path.resolve(), workspace="other")
    (other.project / "a.md").write_bytes(b"no header")

    assert run("doctor", str(memory_base.workspace)) == 0
    assert run("doctor", str(other.workspace)) == 1
    assert run("doctor") == 1


def test_memory_in_the_workspaces_is_looked_at(memory_base, monkeypatch):
    monkeypatch.setenv("QWEN_CODE_MEMORY_LOCAL", "1")
    monkeypatch.setenv("MEMLANE_WORKSPACES", str(memory_base.workspace))
    memory_base.put(memory_base.workspace / ".qwen/memory/a.md", b"no header")

    assert run("doctor") == 1
    assert run("doctor", str(memory_base.workspace)) == 1


def test_a_name_cannot_steer_the_terminal(memory_base, capsys):
    memory_base.put(memory_base.user / "user/\x1b[31m.md", b"no header")

    run("doctor")

    assert "\x1b" not in capsys.readouterr().out


def test_a_missing_workspace_or_base_is_told(memory_base, monkeypatch, capsys):
    assert run("doctor", str(memory_base.workspace / "none")) == 2
    monkeypatch.setenv("MEMLANE_MEMORY_DIR", str(memory_base.path / "none"))
    assert run("doctor") == 3

    assert "does not exist" in capsys.readouterr().err
