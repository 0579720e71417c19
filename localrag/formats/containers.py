"""Zip containers, opened within limits: DOCX, PPTX, XLSX and EPUB are all zip files of parts.

A few kilobytes can unpack to terabytes. What a container declares is checked before anything is
unpacked, and a member that lies about its size stops at what it declared.
"""

from __future__ import annotations

import io
import zipfile
import zlib

from localrag.errors import ReadError

__all__ = ["open_zip", "read_member", "zip_media_type"]

MOST_MEMBERS = 20_000
MOST_BYTES = 1 << 30
"""Unpacked size of all members together."""
MOST_MEMBER_BYTES = 256 << 20
MOST_RATIO = 200
"""Unpacked to packed size; XML of spreadsheets reaches 50."""
SMALL = 16 << 20
"""What is smaller than this when unpacked may have any ratio."""

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
EPUB = "application/epub+zip"

_MAIN_PARTS = (("word/", DOCX), ("ppt/", PPTX), ("xl/", XLSX))
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,  # a member with a password
)


def open_zip(data: bytes) -> zipfile.ZipFile:
    """Return the container in `data`, whose members are within the limits.

    Raises:
        ReadError: ``"damaged"`` where it is no zip file, ``"too large"`` where it unpacks to more
            than the limits, ``"encrypted"`` where a member has a password.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _UNREADABLE as error:
        raise ReadError(
            "damaged", f"the zip container cannot be opened ({error}); get a fresh copy"
        ) from error
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    if len(members) > MOST_MEMBERS:
        raise ReadError("too large", f"{len(members):,} members; at most {MOST_MEMBERS:,} are read")
    if unpacked > MOST_BYTES or any(one.file_size > MOST_MEMBER_BYTES for one in members):
        raise ReadError("too large", f"unpacks to {unpacked:,} bytes; at most {MOST_BYTES:,}")
    if unpacked > SMALL and unpacked > MOST_RATIO * len(data):
        raise ReadError("too large", f"unpacks to {unpacked // len(data):,} times its size")
    if any(member.flag_bits & 1 for member in members):
        raise ReadError("encrypted", "the container has a password; save it without one")
    return archive


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the unpacked bytes of one member.

    Raises:
        KeyError: there is no such member.
        ReadError: ``"damaged"`` where it cannot be unpacked.
    """
    member = archive.getinfo(name)
    try:
        with archive.open(member) as stream:
            # A member that unpacks to more than it declares is cut there and fails its checksum.
            return stream.read(member.file_size + 1)
    except _UNREADABLE as error:
        raise ReadError("damaged", f"{name} cannot be unpacked ({error})") from error


def zip_media_type(data: bytes) -> str:
    """Return which kind of zip container `data` is; ``"application/zip"`` where it is none of ours.

    The names of the members decide: `[Content_Types].xml` and the folder of the main part, or the
    `mimetype` of an EPUB.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _UNREADABLE:
        return _media_type_of_names(data)
    names = archive.namelist()
    if "META-INF/container.xml" in names:
        return EPUB
    if "[Content_Types].xml" in names:
        for folder, media_type in _MAIN_PARTS:
            if any(name.startswith(folder) for name in names):
                return media_type
    return "application/zip"


def _media_type_of_names(data: bytes) -> str:
    """Tell a damaged container, whose directory is lost, by the names in what is left of it."""
    if b"mimetypeapplication/epub+zip" in data[:200]:
        return EPUB
    if b"[Content_Types].xml" in data or b"_rels/.rels" in data:
        for folder, media_type in _MAIN_PARTS:
            if folder.encode() in data:
                return media_type
        if b"[Content_Types].xml" in data[:100]:
            return DOCX
    return "application/zip"
