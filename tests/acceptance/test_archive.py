"""A lived-in memory, exported, lost and brought back."""

import shutil
from pathlib import Path

import pytest

from memlane.client import Client
from memlane.errors import MemlaneApiError
from tests.support.lived_in import contents


def test_what_was_exported_comes_back_byte_by_byte(start, root: Path):
    service = start()
    with Client(service.url, service.token, limit_s=30.0) as client:
        with pytest.raises(MemlaneApiError, match=r"project/notes/latin\.md: it is not UTF-8"):
            client.import_memory(client.export_memory())
        (root / "notes/latin.md").unlink()
        archive = client.export_memory()
        before = contents(root)
        shutil.rmtree(root / "project")

        ended = client.wait(client.import_memory(archive))
        changed = next(one for one in client.events(last_event_id=0) if one.type == "memory_changed")

    assert ended.error is None
    assert ended.result is not None
    assert contents(root) == before
    assert ended.result.imported_documents == sum(path.startswith("project/") for path in before)
    assert ended.result.skipped_documents == sum(path.startswith("pinned/") for path in before)
    assert "](project/release.md)" in (root / "MEMORY.md").read_text()
    assert changed.data["source"] == "workspace_memory_import"
    assert (changed.data["touchedScopes"], changed.data["revision"]) == (["project"], ended.revision)
