import io
from collections.abc import Callable

import numpy as np
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from localrag.errors import ReadError
from localrag.formats import ocr, pdf
from localrag.formats.pdf import read_pdf
from localrag.formats.pdf_page import Segment
from localrag.formats.registry import read_document
from localrag.records import Document

WIDTH, HEIGHT = 600, 800
LINES = [f"This is line number {at} of some prose that fills the column." for at in range(12)]


@pytest.fixture(autouse=True)
def no_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "is_installed", lambda: False)


def made(*pages: Callable[[Canvas], None], encrypt: object = None) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), encrypt=encrypt)
    for page in pages:
        canvas.setFont("Helvetica", 10)
        page(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def write(
    canvas: Canvas, x: float, y: float, *lines: str, size: float = 10, font: str = "Helvetica"
) -> None:
    """Write lines from a height above the lower edge downwards."""
    canvas.setFont(font, size)
    for at, line in enumerate(lines):
        canvas.drawString(x, y - 1.2 * size * at, line)


def page_of(*lines: str) -> Callable[[Canvas], None]:
    return lambda canvas: write(canvas, 60, 600, *lines)


def read(*pages: Callable[[Canvas], None]) -> Document:
    return read_document(made(*pages), "a.pdf")


def blocks_of(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def reason_of(data: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        read_pdf(data, "a.pdf")
    assert caught.value.detail
    return caught.value.reason


def test_lines_become_paragraphs() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 60, 600, "A paragraph of two lines that", "goes on here and ends.")
        write(canvas, 60, 560, "Another paragraph.")

    document = read(page, page_of("On page two."))
    assert blocks_of(document) == [
        ("paragraph", "A paragraph of two lines that goes on here and ends."),
        ("paragraph", "Another paragraph."),
        ("paragraph", "On page two."),
    ]
    assert [block.page for block in document.blocks] == [1, 1, 2]
    assert document.metadata["pages"] == 2


def test_headings_by_size_and_weight() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 60, 700, "The whole", size=20)
        write(canvas, 60, 660, "A part", size=14)
        write(canvas, 60, 630, *LINES)
        write(canvas, 60, 460, "A small part", font="Helvetica-Bold")
        write(canvas, 60, 430, *LINES)

    document = read(page)
    headings = [(block.heading, block.level) for block in document.blocks if block.level]
    assert headings == [("The whole", 1), ("A part", 2), ("A small part", 3)]
    assert document.title == "The whole"


def test_headings_by_outline() -> None:
    def page(canvas: Canvas) -> None:
        canvas.bookmarkPage("a")
        canvas.bookmarkPage("b")
        canvas.addOutlineEntry("Aims", "a", level=0)
        canvas.addOutlineEntry("Means", "b", level=1)
        write(canvas, 60, 600, "1 Aims", size=10)
        write(canvas, 60, 560, *LINES)
        write(canvas, 60, 400, "1.1 Means", size=10)
        write(canvas, 60, 360, *LINES)

    headings = [block for block in read(page).blocks if block.kind == "heading"]
    assert [(block.heading, block.level) for block in headings] == [("Aims", 1), ("Means", 2)]


def test_columns_are_read_one_after_the_other() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 60, 700, "A title over both columns of the page, as papers have it", size=10)
        for at in range(12):  # line by line across, as some programs write
            write(canvas, 60, 660 - 12 * at, f"Left line {at} of the text in this column")
            write(canvas, 310, 660 - 12 * at, f"Right line {at} of the text in this column")

    text = read(page).text
    assert text.index("A title") < text.index("Left line 0") < text.index("Left line 11")
    assert text.index("Left line 11") < text.index("Right line 0") < text.index("Right line 11")


def test_tables_row_by_row() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 60, 700, "Before the table there is a line of text.")
        for x, column in (
            (60, ("Country", "Austria", "Belgium")),
            (200, ("People", "8.9", "11.5")),
            (340, ("Capital", "Vienna", "Brussels")),
        ):
            write(canvas, x, 660, *column)
        write(canvas, 60, 560, "After the table there is a line of text.")

    document = read(page)
    assert blocks_of(document)[1] == (
        "table",
        "Country\tPeople\tCapital\nAustria\t8.9\tVienna\nBelgium\t11.5\tBrussels",
    )
    assert document.blocks[1].header_rows == 1
    assert [kind for kind, _ in blocks_of(document)] == ["paragraph", "table", "paragraph"]


def test_cells_of_several_lines() -> None:
    def page(canvas: Canvas) -> None:
        rows = (("Key", "Meaning"), ("size", "how large"), ("", "a file is"), ("name", "a word"))
        heights = (660, 640, 628, 608)
        for height, (key, meaning) in zip(heights, rows, strict=True):
            write(canvas, 60, height, key)
            write(canvas, 200, height, meaning)

    assert "size\thow large a file is\nname\ta word" in read(page).text


def test_parted_words_are_made_whole() -> None:
    lines = (
        "The word exam-",
        "ple is parted, and well-",
        "known is a compound that is well-known; the years 2018–",
        "2020 stay together.",
    )
    assert read(page_of(*lines)).text == (
        "The word example is parted, and well-known is a compound that is well-known;"
        " the years 2018–2020 stay together."
    )


def test_lists() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 60, 700, "• one")
        write(canvas, 60, 688, "•")
        write(canvas, 80, 688, "two")
        write(canvas, 60, 676, "2. three")

    assert read(page).text == "- one\n- two\n2. three"


def test_running_headers_and_page_numbers_are_left_out() -> None:
    def page_number(number: int) -> Callable[[Canvas], None]:
        def page(canvas: Canvas) -> None:
            write(canvas, 60, 770, f"The Journal, volume {number}")
            write(canvas, 60, 600, f"Only here: {'abcd'[number]}.")
            write(canvas, 300, 30, str(number + 70))

        return page

    text = read(*map(page_number, range(4))).text
    assert text == "\n\f\n".join(f"Only here: {letter}." for letter in "abcd")


def test_pages_of_one_line_keep_it() -> None:
    pages = [lambda canvas, at=at: write(canvas, 60, 770, f"Entry {at}") for at in range(5)]
    assert read(*pages).text.count("Entry") == 5


def test_numbers_of_lines_are_left_out() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 40, 700, *map(str, range(1, 13)))
        write(canvas, 80, 700, *LINES)

    text = read(page).text
    assert text.startswith("This is line number 0")
    assert " ".join(LINES) == text


def test_numbers_of_rows_stay() -> None:
    def page(canvas: Canvas) -> None:
        for at in range(1, 13):
            for x, cell in ((60, str(at)), (120, f"item {at}"), (200, "4.5"), (280, "7.5")):
                write(canvas, x, 700 - 12 * at, cell)

    assert "12\titem 12\t4.5\t7.5" in read(page).text


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_turned_pages(quarters: int) -> None:
    def page(canvas: Canvas) -> None:
        canvas.translate(300, 400)
        canvas.rotate(90 * quarters)
        write(canvas, -200, 50, "This is the first line of the page.", "This is the second one.")

    assert read(page).text == "This is the first line of the page. This is the second one."


def test_a_stamp_along_the_margin_is_left_out() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 60, 600, *LINES)
        canvas.rotate(90)
        write(canvas, 300, -20, "stamp")

    assert "stamp" not in read(page).text


def test_properties() -> None:
    def page(canvas: Canvas) -> None:
        canvas.setTitle("Annual report")
        canvas.setAuthor("Ann")
        write(canvas, 60, 600, "text")

    document = read(page)
    assert document.title == "Annual report"
    assert document.metadata["author"] == "Ann"
    assert len(str(document.metadata["created"])) == len("2024-02-29")


def test_passwords() -> None:
    page = page_of("secret text")
    open_to_all = made(page, encrypt=StandardEncryption("", ownerPassword="owner"))
    closed = made(page, encrypt=StandardEncryption("user", ownerPassword="owner"))
    assert read_pdf(open_to_all, "a.pdf").text == "secret text"
    assert reason_of(closed) == "encrypted"


def picture(canvas: Canvas) -> None:
    pixels = io.BytesIO(b"P5 8 8 255\n" + bytes(64))
    canvas.drawImage(ImageReader(pixels), 0, 0, WIDTH, HEIGHT)


def test_scans_are_reported() -> None:
    with pytest.raises(ReadError, match=r"scanned: 2 of 2 pages .* pip install 'localrag\[ocr\]'"):
        read_pdf(made(picture, picture), "a.pdf")
    document = read(page_of("text"), picture)
    assert document.metadata["pages_scanned"] == [2]


def test_scans_are_read_by_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def recognise(pixels: np.ndarray, points_per_pixel: float) -> list[Segment]:
        height, width, *_ = pixels.shape
        assert height * points_per_pixel == pytest.approx(HEIGHT, abs=1)
        assert width * points_per_pixel == pytest.approx(WIDTH, abs=1)
        return [Segment("Text of the scan", 60, 100, 200, 110, 10)]

    monkeypatch.setattr(ocr, "is_installed", lambda: True)
    monkeypatch.setattr(ocr, "recognise", recognise)
    document = read(page_of("text"), picture)
    assert document.text == "text\n\f\nText of the scan"
    assert document.metadata["pages_recognised"] == [2]


def test_a_scan_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "is_installed", lambda: True)
    monkeypatch.setattr(ocr, "recognise", lambda *_args, **_named: [])
    assert reason_of(made(picture)) == "scanned"


def test_a_page_that_cannot_be_recognised_keeps_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def recognise(*_args: object, **_named: object) -> list[Segment]:
        raise MemoryError

    monkeypatch.setattr(ocr, "is_installed", lambda: True)
    monkeypatch.setattr(ocr, "recognise", recognise)
    monkeypatch.setattr(pdf, "text_objects", lambda _: 500)
    document = read(page_of("few"), picture)
    assert document.text == "few"
    assert document.metadata["pages_unreadable"] == [1, 2]
    with pytest.raises(MemoryError):
        read_pdf(made(picture), "a.pdf")


def test_blank_pages_are_no_scans() -> None:
    assert reason_of(made(lambda _: None)) == "empty"


@pytest.mark.parametrize(("data", "reason"), [(b"", "empty"), (b"%PDF-1.7 and no more", "damaged")])
def test_what_is_no_pdf(data: bytes, reason: str) -> None:
    assert reason_of(data) == reason


def test_too_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "_MOST_PAGES", 1)
    assert reason_of(made(page_of("a"), page_of("b"))) == "too large"


def test_pages_that_cannot_be_loaded() -> None:
    data = made(page_of("first"), page_of("second"))
    broken = data.replace(b"/Count 2", b"/Count 3")
    document = read_pdf(broken, "a.pdf")
    assert document.text == "first\n\f\nsecond"
    assert document.metadata["pages_failed"] == [3]


def test_letters_without_names_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "text_objects", lambda _: 500)
    assert read_pdf(made(page_of("few")), "a.pdf").metadata["pages_unreadable"] == [1]
