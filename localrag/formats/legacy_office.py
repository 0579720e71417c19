"""Binary Office files from before 2007, and encrypted ones of today: named, not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.errors import ReadError

if TYPE_CHECKING:
    from localrag.records import Document

__all__ = ["read_legacy_office"]

_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# The names of the streams inside say what the container is for.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_KINDS = (
    ("WordDocument".encode("utf-16-le"), "Word", "DOCX"),
    ("PowerPoint Document".encode("utf-16-le"), "PowerPoint", "PPTX"),
    ("Workbook".encode("utf-16-le"), "Excel", "XLSX"),
    ("Book".encode("utf-16-le"), "Excel", "XLSX"),
)


def read_legacy_office(data: bytes, uri: str) -> Document:
    """Say what the container in `data` is and what to do with it.

    Raises:
        ReadError: always; ``"encrypted"``, ``"unsupported"``, ``"empty"`` or ``"damaged"``.
    """
    if not data:
        raise ReadError("empty", "the file holds nothing")
    if not data.startswith(_SIGNATURE):
        raise ReadError("damaged", f"{uri} is not what its name says; get a fresh copy")
    if _ENCRYPTED in data:
        raise ReadError("encrypted", "the Office file has a password; save a copy without one")
    for name, program, modern in _KINDS:
        if name in data:
            raise ReadError(
                "unsupported",
                f"a binary {program} file from before 2007; open it and save it as {modern}",
            )
    raise ReadError("unsupported", "an OLE container; export what it holds to a common format")
