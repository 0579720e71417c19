"""The extra `ocr`, where it is installed: its models ship in its package."""

import io

import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from localrag.errors import ReadError
from localrag.formats import ocr, pdf
from localrag.formats.pdf import read_pdf
from localrag.formats.pdf_page import Segment
from localrag.formats.progress import hearing

pytestmark = pytest.mark.skipif(not ocr.is_installed(), reason="the extra ocr is not installed")


def test_a_scanned_page_is_read_offline() -> None:
    import cv2  # noqa: PLC0415 - part of the extra
    import numpy as np  # noqa: PLC0415

    page = np.full((400, 1000), 255, dtype=np.uint8)
    for at, line in enumerate(("Keys are rotated every year", "Ask the office for help")):
        cv2.putText(page, line, (60, 120 + 120 * at), cv2.FONT_HERSHEY_SIMPLEX, 1.8, 0, 3)
    pixels = io.BytesIO(b"P5 1000 400 255\n" + page.tobytes())
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(500, 200))
    canvas.drawImage(ImageReader(pixels), 0, 0, 500, 200)
    canvas.save()
    document = read_pdf(buffer.getvalue(), "scan.pdf")
    assert "Keys are rotated every year" in document.text
    assert document.text.index("rotated") < document.text.index("office")
    assert document.metadata["pages_recognised"] == [1]


def scan() -> bytes:
    """Return a PDF of one page that is a picture."""
    pixels = io.BytesIO(b"P5 10 10 255\n" + b"\xff" * 100)
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(50, 50))
    canvas.drawImage(ImageReader(pixels), 0, 0, 50, 50)
    canvas.save()
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("Status Message: std::bad_alloc"), MemoryError),
        (MemoryError("Unable to allocate 37.7 MiB"), MemoryError),
        (ImportError("no libGL"), ReadError),
    ],
)
def test_a_picture_that_cannot_be_read_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, error: Exception, expected: type[Exception]
) -> None:
    def fail(*_: object, **__: object) -> list[Segment]:
        raise error

    monkeypatch.setattr(ocr, "recognise", fail)
    with pytest.raises(expected) as caught:
        read_pdf(scan(), "scan.pdf")
    if isinstance(caught.value, ReadError):
        assert caught.value.detail.endswith(
            "1 of 1 pages are pictures without text; "
            "the extra ocr failed (ImportError): install it again"
        )


def test_time_counts_anew_after_each_picture_and_not_too_many_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = Segment("Keys", left=1, top=1, right=9, bottom=9, size=8)
    monkeypatch.setattr(ocr, "recognise", lambda *_, **__: [line])
    monkeypatch.setattr(pdf, "_MOST_RECOGNISED", 2)
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(50, 50))
    for _ in range(3):
        canvas.rect(5, 5, 20, 20)
        canvas.showPage()
    canvas.save()
    told: list[str] = []
    with hearing(lambda: told.append("on")):
        document = read_pdf(buffer.getvalue(), "scan.pdf")
    assert told == ["on", "on"]
    assert document.metadata["pages_recognised"] == [1, 2]
    assert document.metadata["pages_scanned"] == [3]
