"""The text of one PDF page as segments with a place, a size and a weight.

A segment is a piece of one line that is written without a wide gap. Places are points from the top
left corner of the page as it is read, whatever way it is turned in the file.
"""

from __future__ import annotations

import ctypes
import math
import re
import sys
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pypdfium2.raw as pdfium

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypdfium2 import PdfPage

__all__ = ["SOFT_HYPHEN", "Segment", "read_segments", "text_objects"]

SOFT_HYPHEN = "\u00ad"
"""Stands at the end of a line where a word was parted."""

_WORD_GAP = 0.16
"""In sizes of the font: what is wider is a blank."""
_SEGMENT_GAP = 1.1
"""In sizes of the font: what is wider parts columns."""
_SAME_LINE = 0.5
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_HYPHENS = frozenset((0x02, 0xAD, 0xFFFE))
_BOLD_NAME = re.compile(r"bold|black|heavy|semibold|demi", re.IGNORECASE)
_BOLD_WEIGHT = 600
_FORCE_BOLD = 1 << 18
_NAME_BYTES = 256


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a line."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    """Of the font, in points."""
    bold: bool = False

    @property
    def middle(self) -> float:
        """Height of its middle, from the top of the page."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class _Style:
    size: float
    bold: bool
    quarter: int
    """Quarter turns, counter-clockwise, by which the text is turned on the page."""


@dataclass(frozen=True, slots=True)
class _Glyph:
    text: str
    box: tuple[float, float, float, float]
    """Left, bottom, right, top in the space of the file."""
    style: _Style
    after_blank: bool
    after_break: bool


def read_segments(page: PdfPage) -> list[Segment]:
    """Return the segments of a page in the order in which they were written."""
    text_page = page.get_textpage()
    try:
        glyphs = list(_glyphs(text_page.raw))
    finally:
        text_page.close()
    if not glyphs:
        return []
    left, bottom, right, top = page.get_mediabox()
    turns = Counter(glyph.style.quarter for glyph in glyphs).most_common(1)[0][0]
    turned = _Turn(left, bottom, right, top, turns)
    # What is turned another way, such as a stamp along the margin, is no part of the lines.
    upright = [glyph for glyph in glyphs if glyph.style.quarter == turns]
    return [segment for segment in _segments(upright, turned) if segment.text]


def text_objects(page: PdfPage) -> int:
    """Return how many pieces of text a page draws, whether or not they can be read."""
    objects = (pdfium.FPDFPage_GetObject(page.raw, at) for at in range(_count_objects(page)))
    return sum(pdfium.FPDFPageObj_GetType(one) == pdfium.FPDF_PAGEOBJ_TEXT for one in objects)


def _count_objects(page: PdfPage) -> int:
    return max(0, int(pdfium.FPDFPage_CountObjects(page.raw)))


def _glyphs(text_page: pdfium.FPDF_TEXTPAGE) -> Iterator[_Glyph]:
    styles: dict[int, _Style] = {}
    style = _Style(0.0, bold=False, quarter=0)
    box = pdfium.FS_RECTF()
    blank = broken = False
    fresh = True
    for at in range(pdfium.FPDFText_CountChars(text_page)):
        code = pdfium.FPDFText_GetUnicode(text_page, at)
        generated = pdfium.FPDFText_IsGenerated(text_page, at) == 1
        if code in (0x0A, 0x0D):
            broken, fresh = True, True
            continue
        if code in (0x20, 0xA0, 0x3000, 0x09, 0):
            # A blank that PDFium adds may be none: where it stands is measured.
            blank, fresh = blank or not generated, True
            continue
        if fresh or at % 16 == 0:
            style = _style(text_page, at, styles) or style
            fresh = False
        if not pdfium.FPDFText_GetLooseCharBox(text_page, at, box):
            continue
        text = SOFT_HYPHEN if code in _HYPHENS else _character(code)
        if text:
            bounds = (box.left, box.bottom, box.right, box.top)
            yield _Glyph(text, bounds, style, blank, broken)
            blank = broken = False


def _character(code: int) -> str:
    if code < ord(" ") or code > sys.maxunicode:
        return ""
    character = chr(code)
    return "" if unicodedata.category(character) in ("Cs", "Cn") else character


def _style(text_page: pdfium.FPDF_TEXTPAGE, at: int, known: dict[int, _Style]) -> _Style | None:
    text_object = pdfium.FPDFText_GetTextObject(text_page, at)
    if not text_object:
        return None
    key = ctypes.addressof(text_object.contents)
    if key not in known:
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(text_page, at, matrix)
        scale = math.hypot(matrix.c, matrix.d) or 1.0
        size = pdfium.FPDFText_GetFontSize(text_page, at) * scale
        angle = pdfium.FPDFText_GetCharAngle(text_page, at)
        known[key] = _Style(abs(size), _is_bold(text_page, at), round(-angle / (math.pi / 2)) % 4)
    return known[key]


def _is_bold(text_page: pdfium.FPDF_TEXTPAGE, at: int) -> bool:
    if pdfium.FPDFText_GetFontWeight(text_page, at) >= _BOLD_WEIGHT:
        return True
    name, flags = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(text_page, at, name, _NAME_BYTES, flags)
    return bool(_BOLD_NAME.search(name.value.decode("latin-1")) or flags.value & _FORCE_BOLD)


@dataclass(frozen=True, slots=True)
class _Turn:
    """From the space of the file, whose y points up, to the page as it is read."""

    left: float
    bottom: float
    right: float
    top: float
    quarters: int

    def __call__(self, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """Return left, top, right, bottom."""
        left, bottom, right, top = box
        match self.quarters:
            case 0:
                return left - self.left, self.top - top, right - self.left, self.top - bottom
            case 1:
                return bottom - self.bottom, left - self.left, top - self.bottom, right - self.left
            case 2:
                return (
                    self.right - right,
                    bottom - self.bottom,
                    self.right - left,
                    top - self.bottom,
                )
            case _:
                return self.top - top, self.right - right, self.top - bottom, self.right - left


def _segments(glyphs: Sequence[_Glyph], turned: _Turn) -> Iterator[Segment]:
    pieces: list[str] = []
    segment: Segment | None = None
    for glyph in glyphs:
        box = turned(glyph.box)
        joint = _joint(segment, glyph, box)
        if segment is None or joint is None:
            if segment is not None:
                yield replace(segment, text="".join(pieces).strip())
            pieces = [glyph.text]
            segment = Segment("", *box, size=glyph.style.size, bold=glyph.style.bold)
            continue
        pieces += (joint, glyph.text)
        segment = _widened(segment, box, glyph.style)
    if segment is not None:
        yield replace(segment, text="".join(pieces).strip())


def _widened(segment: Segment, box: tuple[float, float, float, float], style: _Style) -> Segment:
    left, top, right, bottom = box
    larger = style.size > segment.size
    return Segment(
        text="",
        left=min(segment.left, left),
        top=top if larger else segment.top,
        right=max(segment.right, right),
        bottom=bottom if larger else segment.bottom,
        size=max(segment.size, style.size),
        bold=segment.bold and style.bold,
    )


def _joint(
    segment: Segment | None, glyph: _Glyph, box: tuple[float, float, float, float]
) -> str | None:
    """Return what stands between a segment and the next glyph; None where a new one begins."""
    if segment is None:
        return None
    left, top, right, bottom = box
    size = max(segment.size, glyph.style.size, 1.0)
    overlap = min(bottom, segment.bottom) - max(top, segment.top)
    if overlap < _SAME_LINE * min(bottom - top, segment.bottom - segment.top):
        return None
    if _RIGHT_TO_LEFT.match(glyph.text) or right < segment.left + size:
        # Written from right to left; elsewhere a jump back is a new line.
        gap = segment.left - right
        if abs(gap) > _SEGMENT_GAP * size:
            return None if not segment.left <= left <= segment.right else " " * glyph.after_blank
        return " " if glyph.after_blank or gap > _WORD_GAP * size else ""
    gap = left - segment.right
    if gap > _SEGMENT_GAP * size or gap < -size:
        return None
    return " " if glyph.after_blank or gap > _WORD_GAP * size else ""
