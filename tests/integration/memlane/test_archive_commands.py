"""`memlane export` and `memlane import`, and the calls of the SDK below them."""

import io
import sys
from pathlib import Path

import pytest

from core.acp import MAX_BODY_BYTES
from memlane.client import Client
from memlane.errors import MemlaneApiError
from tests.support.archives import GOOD, tarred, zipped
from tests.support.command_line import QUEUED, run
from tests.support.scripted_service import Reply, scripted_service

TASK = QUEUED | {"taskId": "import-3f0c5f0e-5a0e-4e0e-9d2e-0a4a3c2f1b00"}
DONE = TASK | {
    "status": "completed",
    "position": None,
    "result": {"summary": "Imported 1 document.", "importedDocuments": 1, "skippedDocuments": 0},
}
ARCHIVE = Reply(200, tarred(GOOD), {"Content-Type": "application/gzip"})


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("MEMLANE_TOKEN", "secret")


@pytest.mark.parametrize(
    ("name", "query"),
    [("m.tar.gz", "format=tar.gz"), ("m.TGZ", "format=tar.gz"), ("m.zip", "format=zip&scope=user")],
)
def test_an_export_is_saved_for_its_owner_alone(tmp_path: Path, name: str, query: str):
    file = tmp_path / name
    scope = ["--scope", "user"] if "scope" in query else []
    with scripted_service([ARCHIVE]) as service:
        assert run("export", str(file), *scope, "--url", service.url) == 0

    assert service.requests[0].path == f"/workspace/memory/export?{query}"
    assert file.read_bytes() == ARCHIVE.body
    assert file.stat().st_mode & 0o777 == 0o600


def test_an_export_can_go_to_standard_output(capfdbinary):
    with scripted_service([ARCHIVE]) as service:
        assert run("export", "-", "--url", service.url) == 0
        sys.stdout.flush()

    assert capfdbinary.readouterr().out == ARCHIVE.body


def test_an_export_never_writes_over_a_file(tmp_path: Path, capsys):
    file = tmp_path / "m.zip"
    file.write_text("mine")
    with scripted_service([ARCHIVE]) as service:
        assert run("export", str(file), "--url", service.url) == 2

    assert (file.read_text(), service.requests) == ("mine", [])
    assert "exists" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["m.rar", "m", "no/folder/m.zip"])
def test_an_export_to_where_it_can_not_go_leaves_nothing(tmp_path: Path, name: str):
    with scripted_service([ARCHIVE]) as service:
        assert run("export", str(tmp_path / name), "--url", service.url) == 2

    assert list(tmp_path.iterdir()) == []


def test_a_refused_export_leaves_no_file(tmp_path: Path):
    refusal = Reply(413, {"error": "Too much", "code": "archive_too_large"})
    with scripted_service([refusal]) as service:
        assert run("export", str(tmp_path / "m.zip"), "--url", service.url) == 2

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("archive", "content_type"), [(zipped(GOOD), "application/zip"), (tarred(GOOD), "application/gzip")]
)
def test_an_import_is_sent_as_what_it_is_and_waited_for(
    tmp_path: Path, capsys, archive: bytes, content_type: str
):
    file = tmp_path / "memory"
    file.write_bytes(archive)
    with scripted_service([Reply(202, TASK), Reply(200, DONE)]) as service:
        assert run("import", str(file), "--conflict", "skip", "--wait", "--url", service.url) == 0

    sent, polled = service.requests
    assert (sent.method, sent.path) == ("POST", "/workspace/memory/import?conflict=skip")
    assert (sent.headers["Content-Type"], sent.body) == (content_type, archive)
    assert polled.path == f"/workspace/memory/tasks/{TASK['taskId']}"
    assert capsys.readouterr().out == "Imported 1 document.\n"


def test_an_import_reads_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(zipped(GOOD))))
    with scripted_service([Reply(202, TASK)]) as service:
        assert run("import", "-", "--url", service.url) == 0

    assert service.requests[0].body == zipped(GOOD)


def test_a_file_that_can_not_be_imported_is_not_sent(tmp_path: Path, capsys):
    (tmp_path / "large.zip").write_bytes(bytes(MAX_BODY_BYTES + 1))
    with scripted_service([Reply(202, TASK)]) as service:
        assert run("import", str(tmp_path / "none.zip"), "--url", service.url) == 2
        assert run("import", str(tmp_path / "large.zip"), "--url", service.url) == 2

    assert service.requests == []
    missing, large = capsys.readouterr().err.splitlines()
    assert "No such file" in missing
    assert "10 MiB" in large


def test_the_sdk_tells_why_an_archive_was_refused():
    refusal = Reply(400, {"error": "../x.md: it leaves", "code": "invalid_archive", "member": "../x.md"})
    with (
        scripted_service([refusal]) as service,
        Client(service.url, "secret") as client,
        pytest.raises(MemlaneApiError, match=r"\.\./x\.md") as refused,
    ):
        client.import_memory(zipped(GOOD), workspace="/srv/my ws")

    assert refused.value.code == "invalid_archive"
    assert service.requests[0].path == "/workspaces/%2Fsrv%2Fmy%20ws/memory/import?conflict=fail"
