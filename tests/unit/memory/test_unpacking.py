"""Archives that somebody sent: what is in them, and what is refused."""

import gzip
import io
import stat
import tarfile
import zipfile
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.acp import MAX_IMPORTED, ArchiveFormat
from memory.archive import MAX_UNPACKED_BYTES
from memory.errors import ArchiveInvalid, ArchiveTooLarge
from memory.unpacking import MAX_MEMBERS, UnpackedDocument, unpack
from memory.validation import MAX_FILE_BYTES
from tests.support.archives import GOOD, archive_of, tarred, zipped
from tests.support.memory import note

FORMATS: tuple[ArchiveFormat, ...] = get_args(ArchiveFormat)
both_formats = pytest.mark.parametrize("archive_format", FORMATS)


def refusal(archive: bytes, archive_format: ArchiveFormat) -> ArchiveInvalid:
    with pytest.raises(ArchiveInvalid) as refused:
        unpack(archive, archive_format)
    return refused.value


@both_formats
def test_documents_of_both_scopes_are_read_and_everything_else_is_left_alone(
    archive_format: ArchiveFormat,
) -> None:
    archive = archive_of(
        archive_format,
        [
            ("manifest.json", b"{}"),
            GOOD,
            ("./project//project/ci.md", note("CI")),
            ("user/pinned/rule.md", b"anything"),
            ("user/MEMORY.md", b"- [Tea](user/tea.md)"),
            ("project/memory.MD.md", note("No index")),
            ("user/nested.zip", zipped(("../evil.md", note()))),
            ("photo.jpg", b"\xff"),
        ],
    )

    unpacked = unpack(archive, archive_format)

    assert unpacked.documents == (
        UnpackedDocument("user", "user/tea.md", note("Tea").decode()),
        UnpackedDocument("project", "project/ci.md", note("CI").decode()),
        UnpackedDocument("project", "memory.MD.md", note("No index").decode()),
    )
    assert unpacked.skipped == 2


def test_folders_of_an_archive_are_no_documents() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.mkdir("user")
        archive.mkdir("user/odd.md")
    folder = tarfile.TarInfo("user/odd.md")
    folder.type = tarfile.DIRTYPE
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as opened:
        opened.addfile(folder)

    assert unpack(packed.getvalue(), "zip").documents == ()
    assert unpack(gzip.compress(stream.getvalue()), "tar.gz").documents == ()


@both_formats
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../evil.md", "`..`"),
        ("user/../../evil.md", "`..`"),
        ("user/..", "`..`"),
        ("../evil.txt", "`..`"),
        ("/etc/evil.md", "absolute"),
        ("/srv/evil.md", "absolute"),
        ("//srv/evil.md", "absolute"),
        ("evil.md", "neither in user/ nor"),
        ("other/evil.md", "neither in user/ nor"),
        ("User/evil.md", "neither in user/ nor"),
        ("user.md", "neither in user/ nor"),
        ("user\\..\\evil.md", "neither in user/ nor"),
        ("user/.md", "end in .md"),
        ("user/" + "a/" * 17 + "evil.md", "deep"),
        ("user/" + "x" * 300 + ".md", "too long"),
        ("user/new\nline.md", "characters"),
        ("user/turned\u202egpj.md", "characters"),
    ],
)
def test_a_name_that_leads_elsewhere_or_has_no_place_is_refused(
    name: str, reason: str, archive_format: ArchiveFormat
) -> None:
    refused = refusal(archive_of(archive_format, [GOOD, (name, note("Evil"))]), archive_format)

    assert reason in refused.reason
    assert refused.member is not None
    assert refused.member.isprintable()
    assert len(refused.member) <= 200
    assert "Evil" not in str(refused)


@both_formats
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("user/tea.md", "user/TEA.md"),
        ("user/a/tea.md", "user/A/coffee.md"),
        ("user/caf\u00e9.md", "user/cafe\u0301.md"),
        ("user/tea.md", "user/tea.md"),
        ("user/tea.md", "user/./tea.md"),
        ("user/tea.md", "user/tea.md/b.md"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_names_for_one_place_are_refused(first: str, second: str, archive_format: ArchiveFormat) -> None:
    archive = archive_of(archive_format, [(first, note()), (second, note())])

    assert refusal(archive, archive_format).member == second


@both_formats
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff", "UTF-8"),
        (note() + b"\0", "NUL"),
        (b"no header\n", "frontmatter"),
        (b"---\ntype: user\nname: A\n---\n", "description"),
        (note(body="\n[rest unchanged]\n"), "placeholder"),
        (note(body="x" * MAX_FILE_BYTES), "larger"),
    ],
)
def test_a_document_that_could_not_be_committed_is_refused(
    content: bytes, reason: str, archive_format: ArchiveFormat
) -> None:
    archive = archive_of(archive_format, [GOOD, ("user/bad.md", content)])

    refused = refusal(archive, archive_format)

    assert refused.member == "user/bad.md"
    assert reason in refused.reason


@pytest.mark.parametrize(
    "kind",
    [
        *(tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE),
        *(tarfile.CONTTYPE, tarfile.GNUTYPE_SPARSE, b"Z"),
    ],
)
@pytest.mark.parametrize("name", ["user/evil.md", "evil"])
def test_a_link_or_device_of_a_tar_is_refused_whatever_its_name(kind: bytes, name: str) -> None:
    def turn(header: tarfile.TarInfo) -> None:
        header.type, header.linkname, header.size = kind, "/etc/passwd", 0

    assert refusal(tarred(GOOD, (name, b""), edit=turn), "tar.gz").member == name


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK])
@pytest.mark.parametrize("name", ["user/evil.md", "evil"])
def test_a_link_or_device_of_a_zip_is_refused_whatever_its_name(kind: int, name: str) -> None:
    def turn(entry: zipfile.ZipInfo) -> None:
        entry.external_attr = (kind | 0o777) << 16

    assert refusal(zipped(GOOD, (name, b"/etc/passwd"), edit=turn), "zip").member == name


def test_a_zip_whose_members_can_not_be_read_in_steps_is_refused() -> None:
    def turn(entry: zipfile.ZipInfo) -> None:
        entry.compress_type = zipfile.ZIP_LZMA

    assert "method" in refusal(zipped(GOOD, ("user/b.md", note()), edit=turn), "zip").reason


def test_an_encrypted_zip_is_refused() -> None:
    archive = bytearray(zipped(GOOD))
    archive[archive.index(b"PK\x01\x02") + 8] |= 1

    assert "encrypted" in refusal(bytes(archive), "zip").reason


def test_a_name_that_ends_early_for_others_is_refused() -> None:
    archive = zipped(("user/tea.mdX.exe", note())).replace(b"tea.mdX.exe", b"tea.md\0.exe")

    assert "NUL" in refusal(archive, "zip").reason


@pytest.mark.parametrize(
    ("name", "archive_format"), [("user/bomb.md", "zip"), ("bomb.bin", "zip"), ("user/bomb.md", "tar.gz")]
)
def test_a_bomb_is_refused_before_it_goes_off(name: str, archive_format: ArchiveFormat) -> None:
    archive = archive_of(archive_format, [GOOD, (name, bytes(MAX_UNPACKED_BYTES + 1))])

    assert "once inflated" in refusal(archive, archive_format).reason


@both_formats
def test_more_members_than_an_archive_may_have_are_refused(archive_format: ArchiveFormat) -> None:
    archive = archive_of(archive_format, ((f"{number}.txt", b"") for number in range(MAX_MEMBERS + 1)))

    assert str(MAX_MEMBERS) in refusal(archive, archive_format).reason


def test_more_documents_than_one_import_may_have_are_refused() -> None:
    archive = tarred(*((f"user/{number}.md", note()) for number in range(MAX_IMPORTED + 1)))

    with pytest.raises(ArchiveTooLarge, match=str(MAX_IMPORTED)):
        unpack(archive, "tar.gz")


def header_of(kind: bytes, size: int) -> bytes:
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, size
    return header.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    "stream",
    [
        header_of(tarfile.REGTYPE, -512) * 2,
        header_of(tarfile.XHDTYPE, 1 << 20) + b"1" * (1 << 20) + header_of(tarfile.REGTYPE, 0),
        header_of(tarfile.GNUTYPE_LONGNAME, 0) * 5_000 + header_of(tarfile.REGTYPE, 0),
    ],
    ids=["a size that leads backwards", "a note that takes for ever to parse", "notes on notes on notes"],
)
def test_headers_that_lead_a_reader_astray_are_refused(stream: bytes) -> None:
    assert refusal(gzip.compress(stream), "tar.gz")


@both_formats
@pytest.mark.parametrize(
    "archive", [b"", b"PK", b"\x1f\x8b", b"no archive at all", b"PK\x05\x06" + b"\xff" * 18]
)
def test_what_is_no_archive_is_refused(archive: bytes, archive_format: ArchiveFormat) -> None:
    assert refusal(archive, archive_format).member is None


def test_a_tar_with_a_broken_header_in_its_middle_is_no_shorter_tar() -> None:
    stream = bytearray(gzip.decompress(tarred(GOOD, ("user/b.md", note()))))
    stream[1024] ^= 0xFF

    assert refusal(gzip.compress(stream), "tar.gz").member is None


def test_an_archive_of_the_other_format_is_refused() -> None:
    assert refusal(zipped(GOOD), "tar.gz")
    assert refusal(tarred(GOOD), "zip")


@given(st.data(), st.sampled_from(FORMATS))
def test_a_damaged_archive_gives_its_documents_or_a_refusal(
    data: st.DataObject, archive_format: ArchiveFormat
) -> None:
    plain = archive_of(archive_format, [GOOD, ("project/a.md", note("A")), ("user/b.txt", b"b" * 50)])
    damaged = bytearray(gzip.decompress(plain) if archive_format == "tar.gz" else plain)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    archive = gzip.compress(damaged, 1) if archive_format == "tar.gz" else bytes(damaged)

    try:
        unpacked = unpack(archive, archive_format)
    except ArchiveInvalid:
        return
    assert all(one.path.endswith(".md") for one in unpacked.documents)
