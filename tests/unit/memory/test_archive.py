"""Memory as an archive, and back."""

import io
import json
import tarfile
import zipfile
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.acp import ArchiveFormat, Scope
from core.ids import WorkspaceId, workspace_id
from memory.archive import MAX_UNPACKED_BYTES, Export, gather, pack
from memory.content import digest
from memory.document import render_document
from memory.errors import ArchiveTooLarge, PathRefused
from memory.library import Library
from memory.name_tree import NameTree
from memory.names import MAX_DEPTH, is_pinned, require_writable
from memory.scan import LeftOut, ReadDocument
from memory.unpacking import unpack
from memory.validation import MAX_FILE_BYTES
from tests.support.memory import MemoryBase, note

FORMATS = get_args(ArchiveFormat)
USER: tuple[Scope, ...] = ("user",)


def export_of(*documents: ReadDocument, left_out: tuple[LeftOut, ...] = ()) -> Export:
    return Export(WorkspaceId("0123456789abcdef"), 1_796_000_000_123, documents, left_out)


def members(archive: bytes, archive_format: ArchiveFormat) -> dict[str, bytes]:
    """What the standard library finds in an archive."""
    if archive_format == "zip":
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return {name: opened.read(name) for name in opened.namelist()}
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        return {
            entry.name: found.read()
            for entry in opened
            for found in [opened.extractfile(entry)]
            if found is not None
        }


@pytest.fixture
def library(memory_base: MemoryBase) -> Library:
    memory_base.put(memory_base.user / "user/tea.md", note("Tea"))
    memory_base.put(memory_base.user / "pinned/rule.md", note("Rule"))
    memory_base.put(memory_base.user / "MEMORY.md", b"- [Tea](user/tea.md)")
    memory_base.put(memory_base.user / "plain.md", b"no memory\n")
    memory_base.put(memory_base.project / "project/ci.md", note("CI", kind="project"))
    (memory_base.project / "link.md").symlink_to(memory_base.user / "user/tea.md")
    return Library(memory_base.path, local=False)


@pytest.mark.parametrize("archive_format", FORMATS)
def test_an_archive_holds_every_memory_and_a_manifest_and_no_index(
    library: Library, memory_base: MemoryBase, archive_format: ArchiveFormat
) -> None:
    found = members(pack(library.export(str(memory_base.workspace)), archive_format), archive_format)

    manifest = json.loads(found.pop("manifest.json"))
    assert found == {
        "project/project/ci.md": note("CI", kind="project"),
        "user/pinned/rule.md": note("Rule"),
        "user/user/tea.md": note("Tea"),
    }
    assert list(found) == sorted(found)
    assert (manifest["version"], manifest["workspaceId"]) == (1, workspace_id(str(memory_base.workspace)))
    assert [f"{one['scope']}/{one['path']}" for one in manifest["documents"]] == list(found)
    assert [one["sha256"] for one in manifest["documents"]] == [digest(text) for text in found.values()]
    assert manifest["leftOut"] == [{"cause": "link", "path": "link.md"}]


def test_one_scope_can_be_exported_alone(library: Library, memory_base: MemoryBase) -> None:
    export = library.export(str(memory_base.workspace), USER)

    assert [(one.scope, one.path) for one in export.documents] == [
        ("user", "pinned/rule.md"),
        ("user", "user/tea.md"),
    ]


@pytest.mark.parametrize("archive_format", FORMATS)
def test_the_same_memory_gives_the_same_bytes(archive_format: ArchiveFormat) -> None:
    export = export_of(ReadDocument("user", "a.md", note(), 1_700_000_000_000_000_000))

    assert pack(export, archive_format) == pack(export, archive_format)


@pytest.mark.parametrize("mtime_ns", [-(10**18), 0, 5 * 10**18])
@pytest.mark.parametrize("archive_format", FORMATS)
def test_any_time_of_a_document_can_be_written(mtime_ns: int, archive_format: ArchiveFormat) -> None:
    archive = pack(export_of(ReadDocument("user", "a.md", note(), mtime_ns)), archive_format)

    assert [one.path for one in unpack(archive, archive_format).documents] == ["a.md"]


def test_a_name_that_is_no_text_is_told_and_left_out() -> None:
    told: list[LeftOut] = []
    odd = ReadDocument("user", "caf\udce9.md", note(), 0)

    assert gather([odd], tell=told.append) == ()
    assert told == [LeftOut("name_not_utf8", "caf\ufffd.md")]


def test_more_memory_than_an_archive_may_hold_is_refused_before_it_is_read() -> None:
    large = note(body="x" * (MAX_FILE_BYTES - 100))
    read: list[int] = []

    def files():
        for number in range(10_000):
            read.append(number)
            yield ReadDocument("user", f"{number}.md", large, 0)

    with pytest.raises(ArchiveTooLarge):
        gather(files(), tell=lambda _: None)
    assert len(read) <= MAX_UNPACKED_BYTES // len(large) + 1


def fits(path: str) -> bool:
    """Whether a task could commit a document at this path."""
    try:
        require_writable(path.split("/"))
    except PathRefused:
        return False
    return all(part not in {"", ".", ".."} and len(part.encode()) <= 255 for part in path.split("/"))


def together(paths: list[str]) -> bool:
    """Whether all could stand in one root."""
    tree = NameTree()
    try:
        for path in paths:
            tree.check(path.split("/"))
            tree.add(path.split("/"))
    except PathRefused:
        return False
    return True


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=40)
PATHS = (
    st.lists(NAMES, min_size=1, max_size=MAX_DEPTH)
    .map(lambda names: "/".join(names) + ".md")
    .filter(lambda path: fits(path) and not is_pinned(path.split("/")))
)
BODIES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200)
SCOPES: st.SearchStrategy[Scope] = st.sampled_from(["user", "project"])


@settings(max_examples=50)
@given(
    contents=st.dictionaries(PATHS, BODIES, max_size=4).filter(lambda found: together(list(found))),
    scope=SCOPES,
    archive_format=st.sampled_from(FORMATS),
)
def test_what_was_packed_is_unpacked_byte_by_byte(
    contents: dict[str, str], scope: Scope, archive_format: ArchiveFormat
) -> None:
    wanted = {
        path: render_document(type="user", name="A", description="B", body=f"\nx {body}")
        for path, body in contents.items()
    }
    documents = [ReadDocument(scope, path, content, 0) for path, content in wanted.items()]

    unpacked = unpack(pack(export_of(*documents), archive_format), archive_format)

    assert {one.path: one.content.encode() for one in unpacked.documents} == wanted
    assert {one.scope for one in unpacked.documents} <= {scope}
    assert unpacked.skipped == 0
