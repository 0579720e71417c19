"""The extra `ocr`, where it is installed: its models ship in its package."""

import io

import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from localrag.formats import ocr
from localrag.formats.pdf import read_pdf

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
