"""Which reader reads which file. A new format is one line in `_FORMATS`.

What a file holds decides before what it is called: a picture named ``notes.txt`` is not text.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from localrag.errors import ReadError

if TYPE_CHECKING:
    from localrag.records import Document

__all__ = [
    "MEDIA_TYPES",
    "SUPPORTED_SUFFIXES",
    "Format",
    "media_type_of",
    "read_document",
    "suffix_of",
]


PLAIN_TEXT = "text/plain"


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file."""

    media_type: str
    suffixes: tuple[str, ...]
    """Lower case, with the dot."""
    reader: str
    """``module:function`` below `localrag.formats`: imported when the first such file is read."""

    def read(self, data: bytes, uri: str) -> Document:
        """Return the document in `data`; raises `ReadError`."""
        module, _, function = self.reader.partition(":")
        document: Document = getattr(import_module(f"localrag.formats.{module}"), function)(
            data, uri
        )
        return document


_FORMATS = (
    Format(
        "text/markdown",
        (".md", ".markdown", ".mdown", ".mkd", ".mdx"),
        "markdown:read_markdown",
    ),
    Format(
        PLAIN_TEXT,
        (".txt", ".text", ".rst", ".org", ".adoc", ".asciidoc"),
        "plain_text:read_plain_text",
    ),
)
_BY_MEDIA_TYPE = {known.media_type: known for known in _FORMATS}
_BY_SUFFIX = {suffix: known for known in _FORMATS for suffix in known.suffixes}

MEDIA_TYPES = frozenset(_BY_MEDIA_TYPE)
"""What there is a reader for."""

SUPPORTED_SUFFIXES = tuple(_BY_SUFFIX)
"""Lower case, with the dot. A file without any suffix is read as plain text if it is text."""

_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),  # also docx, xlsx, pptx, epub, odt
    (b"PK\x05\x06", "application/zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),  # doc, xls, ppt
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"\x7fELF", "application/x-executable"),
    (b"{\\rtf", "application/rtf"),
    (b"%!PS", "application/postscript"),
    (b"OggS", "audio/ogg"),
)


def media_type_of(data: bytes, suffix: str) -> str:
    """Return the media type by content, then by suffix (``".md"``); ``""`` where neither tells."""
    for signature, media_type in _SIGNATURES:
        if data.startswith(signature):
            return media_type
    known = _BY_SUFFIX.get(suffix.lower())
    return known.media_type if known else "" if suffix else PLAIN_TEXT


def read_document(data: bytes, uri: str) -> Document:
    """Return the document that `data`, found at `uri`, holds.

    Raises:
        ReadError: ``"empty"``, ``"binary"``, ``"unreadable"`` or ``"unsupported"``.
    """
    suffix = suffix_of(uri)
    media_type = media_type_of(data, suffix)
    if media_type not in _BY_MEDIA_TYPE:
        what = media_type or suffix
        readable = ", ".join(SUPPORTED_SUFFIXES)
        raise ReadError("unsupported", f"no reader for {what}; supported: {readable}")
    document = _BY_MEDIA_TYPE[media_type].read(data, uri)
    if not document.blocks:
        raise ReadError("empty", "the file holds no text")
    return document


def suffix_of(uri: str) -> str:
    """Return the suffix of a file's name in lower case, with the dot; ``""`` where it has none."""
    name = uri.replace("\\", "/").rpartition("/")[2].lstrip(".")
    return "." + name.rpartition(".")[2].lower() if "." in name else ""
