"""PDF files: the text of each page in reading order, with headings and tables as far as they show.

Pages without text are scans: the extra ``ocr`` reads them, otherwise they are counted in the
metadata. `Block.page` is the number of the page in the file, from 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pypdfium2
import pypdfium2.raw as pdfium

from localrag.errors import ReadError
from localrag.formats import ocr
from localrag.formats.builder import DocumentBuilder, one_line
from localrag.formats.pdf_furniture import without_furniture, without_line_numbers
from localrag.formats.pdf_headings import find_headings, read_outline
from localrag.formats.pdf_layout import Table, reading_order
from localrag.formats.pdf_page import Segment, read_segments, text_objects
from localrag.formats.pdf_paragraphs import Paragraph, paragraphs_of
from localrag.formats.progress import goes_on
from localrag.formats.titles import title_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.formats.pdf_headings import Bookmark, Heading
    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "read_pdf"]

MEDIA_TYPE = "application/pdf"

_MOST_PAGES = 20_000
_FEW_CHARACTERS = 200
_MANY_OBJECTS = 20
_POINTS = 72
_RESOLUTION = 200
"""Dots per inch of a page that is to be read from its picture."""
_MOST_PIXELS = 25_000_000
_MOST_RECOGNISED = 1_000
"""Pages of a file that are read from their pictures: at 5 s each they take over an hour."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
_PROPERTIES = {
    "Title": "title",
    "Author": "author",
    "Subject": "subject",
    "Keywords": "keywords",
}
_PASSWORD, _SECURITY = 4, 5


def read_pdf(data: bytes, uri: str) -> Document:
    """Return the text of the pages in `data`.

    Raises:
        ReadError: ``"empty"``, ``"damaged"``, ``"encrypted"``, ``"too large"`` or ``"scanned"``.
    """
    document = _opened(data)
    try:
        pages = _read_pages(document)
        metadata = _properties(document)
        outline = read_outline(document)
    except pypdfium2.PdfiumError as error:
        raise ReadError("damaged", f"the PDF cannot be read ({error}); get a fresh copy") from error
    finally:
        document.close()
    if not any(pages.segments):
        raise _no_text(pages)
    builder = _built(pages, outline)
    metadata |= pages.metadata()
    return builder.build(title_of(metadata, builder.blocks, uri), MEDIA_TYPE, metadata)


def _opened(data: bytes) -> pypdfium2.PdfDocument:
    if not data.strip():
        raise ReadError("empty", "the file holds nothing")
    try:
        document = pypdfium2.PdfDocument(data)
        pages = len(document)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        if code in (_PASSWORD, _SECURITY):
            raise ReadError(
                "encrypted", "the PDF needs a password to be opened; save a copy without one"
            ) from error
        raise ReadError(
            "damaged", "this is no readable PDF; get a fresh copy, or print it to a new PDF"
        ) from error
    if pages > _MOST_PAGES:
        document.close()
        raise ReadError("too large", f"{pages:,} pages; at most {_MOST_PAGES:,} are read")
    return document


@dataclass(slots=True)
class _Pages:
    """What was read of each page."""

    segments: list[list[Segment]] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    """Numbers of pages that cannot be loaded."""
    scanned: list[int] = field(default_factory=list)
    """Numbers of pages that are pictures, and were not read."""
    unreadable: list[int] = field(default_factory=list)
    """Numbers of pages whose letters the file does not name."""
    recognised: list[int] = field(default_factory=list)
    """Numbers of pages that were read from their pictures."""
    failure: Exception | None = None
    """What reading a picture failed with last."""

    def metadata(self) -> dict[str, object]:
        """Return the number of pages, and which of them were not read, or how."""
        found: dict[str, object] = {"pages": len(self.segments)}
        named = {
            "pages_failed": self.failed,
            "pages_scanned": self.scanned,
            "pages_unreadable": self.unreadable,
            "pages_recognised": self.recognised,
        }
        return found | {key: list(numbers) for key, numbers in named.items() if numbers}


def _read_pages(document: pypdfium2.PdfDocument) -> _Pages:
    pages = _Pages()
    for at in range(len(document)):
        try:
            page = document[at]
        except pypdfium2.PdfiumError:
            pages.failed.append(at + 1)
            pages.segments.append([])
            pages.heights.append(1.0)
            continue
        try:
            pages.segments.append(_read_page(page, at + 1, pages))
            pages.heights.append(page.get_height())
        finally:
            page.close()
    return pages


def _read_page(page: pypdfium2.PdfPage, number: int, pages: _Pages) -> list[Segment]:
    segments = read_segments(page)
    characters = sum(len(one.text) for one in segments)
    objects = text_objects(page) if characters < _FEW_CHARACTERS else 0
    # A font that is not in the file may leave letters that nothing names.
    unnamed = objects >= _MANY_OBJECTS and characters < objects
    if (segments and not unnamed) or not _draws(page):
        return segments
    if ocr.is_installed() and len(pages.recognised) < _MOST_RECOGNISED:
        recognised = _recognised(page, pages)
        goes_on()
        if sum(len(one.text) for one in recognised) > characters:
            pages.recognised.append(number)
            return recognised
    (pages.unreadable if unnamed else pages.scanned).append(number)
    return segments


def _draws(page: pypdfium2.PdfPage) -> bool:
    """Whether there is anything on a page."""
    return bool(pdfium.FPDFPage_CountObjects(page.raw) > 0)


def _recognised(page: pypdfium2.PdfPage, pages: _Pages) -> list[Segment]:
    width, height = page.get_size()
    points = max(width * height, 1.0)
    scale = min(_RESOLUTION / _POINTS, (_MOST_PIXELS / points) ** 0.5)
    bitmap = page.render(scale=scale)
    try:
        return ocr.recognise(bitmap.to_numpy(), points_per_pixel=1 / scale)
    except Exception as error:  # noqa: BLE001 - of many libraries: the page keeps what text it has
        pages.failure = error
        return []
    finally:
        bitmap.close()


def _no_text(pages: _Pages) -> ReadError:
    """Return why there is no text. MemoryError: pictures need more of it than there is."""
    if pages.scanned or pages.unreadable:
        number = len(pages.scanned) + len(pages.unreadable)
        return ReadError(
            "scanned",
            f"{number} of {len(pages.segments)} pages are pictures without text; {_remedy(pages)}",
        )
    if pages.failed:
        return ReadError("damaged", "no page can be loaded; get a fresh copy")
    return ReadError("empty", "no page holds any text")


def _remedy(pages: _Pages) -> str:
    if not ocr.is_installed():
        return ocr.REMEDY
    if pages.failure is None:
        return "the extra ocr recognised none"
    if ocr.is_lack_of_memory(pages.failure):
        raise MemoryError from pages.failure
    return f"the extra ocr failed ({type(pages.failure).__name__}): install it again"


def _built(pages: _Pages, outline: Sequence[Bookmark]) -> DocumentBuilder:
    words = frozenset(
        word.lower()
        for page in pages.segments
        for segment in page
        for word in _WORD.findall(segment.text)
    )
    kept = without_furniture(pages.segments, pages.heights)
    items = [list(paragraphs_of(reading_order(without_line_numbers(page)), words)) for page in kept]
    headings = find_headings(items, outline)
    builder = DocumentBuilder()
    for page, page_items in enumerate(items):
        for at, item in enumerate(page_items):
            _add(builder, item, page + 1, headings.get((page, at)))
    return builder


def _add(
    builder: DocumentBuilder, item: Paragraph | Table, page: int, heading: Heading | None
) -> None:
    if isinstance(item, Table):
        # Cells are guessed from places: a tab is what a person would have typed.
        rows = ["\t".join(one_line(cell) for cell in row) for row in item.rows]
        builder.table(rows, item.header_rows, page=page)
    elif heading is not None:
        shown = item.text if item.marker in (None, "-") else f"{item.marker} {item.text}"
        builder.heading(shown, heading.level, page=page, name=heading.name)
    elif item.marker is not None:
        builder.list_item(item.text, marker=item.marker, page=page)
    else:
        builder.paragraph(item.text, page=page)


def _properties(document: pypdfium2.PdfDocument) -> dict[str, object]:
    stated = document.get_metadata_dict(skip_empty=True)
    found: dict[str, object] = {
        key: value for name, key in _PROPERTIES.items() if (value := one_line(stated.get(name, "")))
    }
    for name, key in (("CreationDate", "created"), ("ModDate", "modified")):
        if match := _DATE.match(stated.get(name, "")):
            found[key] = "-".join(part for part in match.groups() if part)
    return found
