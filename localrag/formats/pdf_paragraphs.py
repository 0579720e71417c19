# ruff: noqa: RUF001 - dashes and the punctuation of many scripts are the subject
"""Lines of a PDF page become paragraphs: joined, parted words made whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from localrag.formats.pdf_layout import Line, Table
from localrag.formats.pdf_page import SOFT_HYPHEN

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

__all__ = ["Paragraph", "join_lines", "paragraphs_of"]

_SAME_SIZE = 0.08
_GAP = 0.55
"""In sizes of the font, above the usual gap: what is wider parts paragraphs."""
_WIDE_GAP = 1.5
_INDENT = 0.8
_SHORT = 0.12
"""Share of the width of the column that the last line of a paragraph leaves free."""
_VERY_SHORT = 0.45
"""The same, where no sentence need end there: lines of a list, of an address, of a poem."""
_BULLET = re.compile(
    r"(?P<bullet>[•‣▪▫●○◦■□·\uf0b7\uf0a7–—*-])\s+(?=[^\s–—*-])|(?P<number>\(?(?:\d{1,2}|[a-z])[.)])\s+(?=\S)"
)
_SENTENCE_END = re.compile(r"[.!?:。！？][\"'”’)\]]*$")
_HYPHENATED = re.compile(r"(?P<stem>[^\W\d_]{2,})(?P<hyphen>[-‐\u00ad])$")
_LOWER_START = re.compile(r"[^\W\d_]+")
_TIGHT_END = re.compile(r"(?<=\w)[–—/‐-]$")
_UNSPACED = "[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]"
_UNSPACED_JOINT = re.compile(f"{_UNSPACED}\n{_UNSPACED}")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that are read as one."""

    text: str
    size: float
    bold: bool
    lines: int
    marker: str | None = None
    """``"-"`` or ``"2."`` of a list item; None: it is in no list."""


def paragraphs_of(
    items: Sequence[Line | Table], words: Container[str]
) -> Iterator[Paragraph | Table]:
    """Yield the paragraphs and tables of a page in order.

    `words` are those of the document that stand on one line, in lower case: they tell whether a
    word that was parted at a hyphen is written with it.
    """
    group: list[Line] = []
    usual = _usual_gap(items)
    for item in items:
        if isinstance(item, Table):
            yield from _paragraph(group, words)
            group = []
            yield item
            continue
        if group and _begins(group, item, usual):
            yield from _paragraph(group, words)
            group = []
        group.append(item)
    yield from _paragraph(group, words)


def _usual_gap(items: Sequence[Line | Table]) -> float:
    gaps = [
        (below.top - above.bottom) / max(below.size, 1.0)
        for above, below in pairwise(items)
        if isinstance(above, Line)
        and isinstance(below, Line)
        and above.column == below.column
        and -1.0 < (below.top - above.bottom) / max(below.size, 1.0) < _WIDE_GAP
    ]
    return median(gaps) if gaps else 0.2


def _begins(group: Sequence[Line], line: Line, usual: float) -> bool:
    """Whether a line begins a new paragraph."""
    last = group[-1]
    size = max(line.size, last.size, 1.0)
    differs = abs(line.size - last.size) > _SAME_SIZE * size or line.bold != last.bold
    if differs or _BULLET.match(line.text):
        return True
    if line.column != last.column:
        # A paragraph goes on at the top of the next column, unless it was finished.
        return bool(_SENTENCE_END.search(last.text)) or line.top > last.bottom
    if (line.top - last.bottom) / size > usual + _GAP:
        return True
    indent = (line.left - min(one.left for one in group[-2:])) / size
    in_item = bool(_BULLET.match(group[0].text))
    if indent > _INDENT and not in_item and (len(group) > 1 or _ends_short(last)):
        return True
    if _HYPHENATED.search(last.text):
        return False
    finished = bool(_SENTENCE_END.search(last.text))
    return _ends_short(last, _SHORT if finished else _VERY_SHORT)


def _ends_short(line: Line, share: float = _SHORT) -> bool:
    left, right = line.column
    return right - line.right > share * (right - left)


def _paragraph(lines: Sequence[Line], words: Container[str]) -> Iterator[Paragraph]:
    if not lines:
        return
    text = join_lines([line.text for line in lines], words)
    marker = None
    if match := _BULLET.match(text):
        marker = match["number"] or "-"
        text = text[match.end() :]
    longest = max(lines, key=lambda line: len(line.text))
    if text:
        bold = all(line.bold for line in lines)
        yield Paragraph(text, longest.size, bold, len(lines), marker)


def join_lines(lines: Sequence[str], words: Container[str]) -> str:
    """Return the text of consecutive lines, with words whole that were parted at their ends."""
    text = lines[0]
    for line in lines[1:]:
        text = _joined(text, line, words)
    # At the end of a page the rest of the word is missing, and the hyphen says so.
    last = "-" if text.endswith(SOFT_HYPHEN) else ""
    return text.replace(SOFT_HYPHEN, "") + last


def _joined(text: str, line: str, words: Container[str]) -> str:
    if text.endswith(SOFT_HYPHEN):
        # PDFium calls any hyphen at the end of a line a soft one.
        text = f"{text[:-1]}-"
    parted, following = _HYPHENATED.search(text), _LOWER_START.match(line)
    if parted and following and following[0][0].islower():
        whole = f"{parted['stem']}{following[0]}".lower()
        compound = f"{parted['stem']}-{following[0]}".lower()
        keeps = compound in words and whole not in words
        return (text if keeps else text[:-1]) + line
    if _TIGHT_END.search(text) and line[:1].isalnum():
        return text + line
    if _UNSPACED_JOINT.match(f"{text[-1:]}\n{line[:1]}"):
        return text + line
    return f"{text} {line}"
