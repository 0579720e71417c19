import pytest

from localrag.errors import ReadError
from localrag.formats.registry import read_document

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.mark.parametrize(
    ("stream", "reason", "remedy"),
    [
        ("WordDocument", "unsupported", "save it as DOCX"),
        ("PowerPoint Document", "unsupported", "save it as PPTX"),
        ("Workbook", "unsupported", "save it as XLSX"),
        ("Book", "unsupported", "save it as XLSX"),
        ("EncryptedPackage", "encrypted", "save a copy without one"),
        ("Other", "unsupported", "export"),
    ],
)
def test_containers_are_named(stream: str, reason: str, remedy: str) -> None:
    with pytest.raises(ReadError, match=remedy) as caught:
        read_document(OLE + stream.encode("utf-16-le"), "notes.txt")
    assert caught.value.reason == reason


@pytest.mark.parametrize(("data", "reason"), [(b"", "empty"), (b"text", "damaged")])
def test_what_only_has_the_name(data: bytes, reason: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_document(data, "notes.doc")
    assert caught.value.reason == reason
