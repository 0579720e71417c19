import io
import zipfile

import pytest

from localrag.errors import ReadError
from localrag.formats import containers
from localrag.formats.containers import open_zip, read_member, zip_media_type


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def reason_of(data: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        open_zip(data)
    assert caught.value.detail
    return caught.value.reason


def test_members_are_read() -> None:
    archive = open_zip(zipped({"a/b.xml": b"<a/>"}))
    assert read_member(archive, "a/b.xml") == b"<a/>"
    with pytest.raises(KeyError):
        read_member(archive, "missing")


def test_what_is_no_zip_is_damaged() -> None:
    assert reason_of(b"PK\x03\x04 and no more") == "damaged"


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MOST_MEMBERS", 2)
    monkeypatch.setattr(containers, "MOST_MEMBER_BYTES", 1_000)
    monkeypatch.setattr(containers, "MOST_BYTES", 1_500)
    assert reason_of(zipped({"a": b"", "b": b"", "c": b""})) == "too large"
    assert reason_of(zipped({"a": b"x" * 1_001})) == "too large"
    assert reason_of(zipped({"a": b"x" * 900, "b": b"x" * 900})) == "too large"
    open_zip(zipped({"a": b"x" * 1_000})).close()


def test_a_bomb_is_not_unpacked() -> None:
    assert reason_of(zipped({"a": bytes(17 << 20)})) == "too large"


def test_a_member_with_a_password_is_encrypted() -> None:
    data = bytearray(zipped({"a": b"text"}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert reason_of(bytes(data)) == "encrypted"


def test_a_member_that_lies_about_its_size_is_damaged() -> None:
    data = bytearray(zipped({"a": b"x" * 5_000}, zipfile.ZIP_STORED))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + offset
        data[at : at + 4] = (100).to_bytes(4, "little")
    with pytest.raises(ReadError) as caught:
        read_member(open_zip(bytes(data)), "a")
    assert caught.value.reason == "damaged"


@pytest.mark.parametrize(
    ("names", "media_type"),
    [
        (("[Content_Types].xml", "word/document.xml"), containers.DOCX),
        (("[Content_Types].xml", "ppt/presentation.xml"), containers.PPTX),
        (("[Content_Types].xml", "xl/workbook.xml"), containers.XLSX),
        (("mimetype", "META-INF/container.xml"), containers.EPUB),
        (("word/document.xml",), "application/zip"),
        (("[Content_Types].xml", "a.txt"), "application/zip"),
    ],
)
def test_kinds_are_told_by_their_members(names: tuple[str, ...], media_type: str) -> None:
    assert zip_media_type(zipped(dict.fromkeys(names, b"a"))) == media_type


def test_kinds_of_damaged_containers() -> None:
    for folder, media_type in (("word/document.xml", containers.DOCX), ("xl/a", containers.XLSX)):
        data = zipped({"[Content_Types].xml": b"a", folder: b"a"})
        assert zip_media_type(data[: data.index(b"PK\x01\x02")]) == media_type
    assert zip_media_type(b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml...") == containers.DOCX
    epub = zipped({"mimetype": b"application/epub+zip"}, zipfile.ZIP_STORED)
    assert zip_media_type(epub[:80]) == containers.EPUB
    assert zip_media_type(b"PK\x03\x04 nothing known") == "application/zip"
