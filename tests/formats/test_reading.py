import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.errors import ReadError
from localrag.formats.known import SUPPORTED_SUFFIXES
from localrag.formats.plain_text import read_plain_text
from localrag.formats.registry import media_type_of, read_document
from localrag.formats.spans import stem_of


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "a")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("uri", "media_type"),
    [
        ("a.md", "text/markdown"),
        ("A/B.MARKDOWN", "text/markdown"),
        ("a.txt", "text/plain"),
        ("C:\\notes\\a.rst", "text/x-rst"),
        ("src/Makefile", "text/x-source-code"),
        ("No. 5 is alive", "text/plain"),
        ("LICENSE", "text/plain"),
        ("folder.md/README", "text/plain"),
        (".notes", "text/plain"),
    ],
)
def test_reader_is_chosen_by_suffix(uri: str, media_type: str) -> None:
    assert read_document(b"some text", uri).media_type == media_type


@pytest.mark.parametrize(
    ("data", "uri", "reason"),
    [
        (b"%PDF-1.7 ...", "a.txt", "damaged"),
        (zipped(), "a.txt", "unsupported"),
        (b"\x89PNG\r\n\x1a\n....", "a.md", "unsupported"),
        (b"text", "a.xyz", "unsupported"),
        (bytes(range(256)), "a.txt", "binary"),
        (b"", "a.md", "empty"),
        (b" \n\t\r\n", "a.txt", "empty"),
        (b"\xef\xbb\xbf", "a.txt", "empty"),
        (b"---\ntitle: a\n---\n", "a.md", "empty"),
        (b"<!-- only a comment -->", "a.md", "empty"),
    ],
)
def test_what_cannot_be_read_has_a_reason(data: bytes, uri: str, reason: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_document(data, uri)
    assert caught.value.reason == reason
    assert caught.value.detail


def test_the_detail_names_what_is_supported() -> None:
    with pytest.raises(
        ReadError, match=r"no reader for \.xyz; save it as one of: Markdown, Plain text, "
    ):
        read_document(b"text", "a.xyz")


def test_media_type() -> None:
    assert media_type_of(b"", ".MD") == "text/markdown"
    assert media_type_of(b"", ".xyz") == ""
    assert media_type_of(b"", "") == "text/plain"
    assert media_type_of(b"%PDF-", ".md") == "application/pdf"
    assert all(media_type_of(b"", suffix) for suffix in SUPPORTED_SUFFIXES)


def test_plain_text_paragraphs() -> None:
    document = read_plain_text(b"\n\n one\r\ntwo\r\n \t\r\n\r\nthree\n", "notes/My file.txt")
    paragraphs = [(document.text[b.start : b.end], document.line(b.start)) for b in document.blocks]
    assert paragraphs == [(" one\ntwo", 3), ("three", 7)]
    assert document.title == "My file"
    assert {block.kind for block in document.blocks} == {"paragraph"}


@given(st.text(" \n\tab漢", max_size=60))
def test_only_blanks_lie_outside_paragraphs(text: str) -> None:
    document = read_plain_text(text.encode(), "a.txt")
    position = 0
    for block in document.blocks:
        assert not document.text[position : block.start].strip()
        assert document.text[block.start : block.end].strip()
        assert document.text.split("\n")[(document.line(block.start) or 0) - 1].strip()
        position = block.end
    assert not document.text[position:].strip()


@pytest.mark.parametrize(
    ("uri", "stem"),
    [
        ("a/b.c.md", "b.c"),
        ("b", "b"),
        (".hidden", ".hidden"),
        ("C:\\x\\y.txt", "y"),
        ("folder/", "folder"),
        ("か\u3099.md", "が"),
        ("No. 5 is alive", "No. 5 is alive"),
        ("", ""),
    ],
)
def test_stem(uri: str, stem: str) -> None:
    assert stem_of(uri) == stem


@given(st.binary() | st.text().map(str.encode), st.sampled_from(["a.md", "a.txt", "a"]))
def test_any_file_is_a_document_or_an_error(data: bytes, uri: str) -> None:
    try:
        document = read_document(data, uri)
    except ReadError:
        return
    assert document.blocks
    document.text.encode()
