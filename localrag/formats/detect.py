"""What kind of file some bytes are, by what they hold.

Only what is certain is told: signatures of binary formats, and text that begins as nothing else
does. Everything else is left to the name of the file.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["signature_of", "text_type_of"]

_SIGNATURES: Final = (
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),  # also docx, xlsx, pptx, epub, odt
    (b"PK\x05\x06", "application/zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),  # doc, xls, ppt, encrypted
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"8BPS", "image/vnd.adobe.photoshop"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"\x7fELF", "application/x-executable"),
    (b"\xca\xfe\xba\xbe", "application/x-executable"),
    (b"\xcf\xfa\xed\xfe", "application/x-executable"),
    (b"\x00asm", "application/wasm"),
    (b"{\\rtf", "application/rtf"),
    (b"%!PS", "application/postscript"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/x-matroska"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
)
_INNER: Final = (
    (0, b"RIFF", 8, b"WAVE", "audio/wav"),
    (0, b"RIFF", 8, b"AVI ", "video/x-msvideo"),
    (0, b"RIFF", 8, b"WEBP", "image/webp"),
    (4, b"ftyp", 8, b"", "video/mp4"),  # also heic, m4a
    (0, b"", 257, b"ustar", "application/x-tar"),
)
"""(offset, bytes, offset, bytes, media type): formats that are named inside."""

_HEAD = 4_096
_HTML: Final = re.compile(
    r"(?:\s|<\?xml[^>]*\?>|<!--.*?-->)*(?:<!doctype\s+html|<html[\s>])", re.IGNORECASE | re.DOTALL
)
_XML: Final = re.compile(r"\s*<\?xml\s+version")
_NOTEBOOK: Final = re.compile(
    r'\s*\{\s*"(?:cells"\s*:\s*\[\s*(?:\{\s*"(?:cell_type|attach|execu|id)|\])|nbformat|worksheets)'
)
_JSON: Final = re.compile(r'\s*(?:\{\s*"(?:[^"\\]|\\.)*"\s*:|\[\s*[\[{"])')
_SUBTITLES: Final = re.compile(r"WEBVTT(?:\s|$)|\s*\d+\s*\n\d\d:\d\d:\d\d,\d{3} --> ")
_SCRIPT: Final = re.compile(r"#!\s*/\S+")
_POSTMARK: Final = re.compile(r"From [^\n]*\d\d:\d\d[^\n]*\n(?=[\w-]+:)")
_BEGINNINGS: Final = (
    (_HTML, "text/html"),
    (_XML, "application/xml"),
    (_NOTEBOOK, "application/x-ipynb+json"),
    (_JSON, "application/json"),
    (_SUBTITLES, "text/x-subtitles"),
    (_SCRIPT, "text/x-source-code"),
    (_POSTMARK, "application/mbox"),
)
_HEADER: Final = re.compile(
    r"^(?P<name>Return-Path|Received|Delivered-To|From|To|Subject|Date|Message-ID|MIME-Version"
    r"|DKIM-Signature|X-[\w-]+):[ \t]",
    re.IGNORECASE,
)
_FEWEST_HEADERS = 3


def signature_of(data: bytes) -> str:
    """Return the media type of a binary format, or ``""``."""
    for signature, media_type in _SIGNATURES:
        if data.startswith(signature):
            return media_type
    for first, begins, second, holds, media_type in _INNER:
        if data.startswith(begins, first) and data.startswith(holds, second) and len(data) > second:
            return media_type
    return ""


def text_type_of(data: bytes) -> str:
    """Return the media type of text that shows what it is, or ``""``."""
    head = _head(data)
    for pattern, media_type in _BEGINNINGS:
        if pattern.match(head):
            return media_type
    return "message/rfc822" if _is_message(head) else ""


def _head(data: bytes) -> str:
    """Return the beginning as text; bytes beyond ASCII do not matter here."""
    head = data[:_HEAD]
    for mark, name in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if head.startswith(mark):
            return head[2:].decode(name, "replace")
    text = head.removeprefix(b"\xef\xbb\xbf").decode("ascii", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_message(head: str) -> bool:
    """Whether the text begins with several headers of a message, and nothing but headers."""
    names = set()
    for line in head.split("\n"):
        if not line.strip():
            break
        header = _HEADER.match(line)
        if header:
            names.add(header["name"].lower())
        elif not line[:1].isspace() and not re.match(r"[\w-]+:", line):
            return False
    sent = names & {"from", "received", "return-path"}
    return bool(sent) and len(names) >= _FEWEST_HEADERS
