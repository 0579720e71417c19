"""What stands on PDF pages but is no text: running headers, page numbers, numbers of lines."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from localrag.formats.pdf_tables import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.formats.pdf_page import Segment

__all__ = ["without_furniture", "without_line_numbers"]

_EDGE_ROWS = 3
"""Rows at the top and at the bottom of a page that may be a running header or footer."""
_EDGE = 0.2
"""Share of the height of the page that they lie in."""
_FEWEST_PAGES = 3
_LEAST_SHARE = 0.2
"""Of the pages that a header stands on: those of left and right pages, and of chapters, differ."""
_NEAR = 12.0
"""Points by which the height of a number may differ."""
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_LEAST_NUMBERS = 8
_ALIGNED = 3.0
_MOST_DIGITS = 3
_FEW_CELLS = 2


def without_furniture(
    pages: Sequence[Sequence[Segment]], heights: Sequence[float]
) -> list[list[Segment]]:
    """Return the segments of each page without what repeats at the edges of the pages.

    Numbers count as equal. Where pages often hold nothing else, those stay as they are.
    """
    edges = [_edge_rows(page, height) for page, height in zip(pages, heights, strict=True)]
    seen = Counter(key for rows in edges for key in {key for key, _ in rows})
    least = max(_FEWEST_PAGES, _LEAST_SHARE * len(pages))
    kept: list[list[Segment]] = []
    for number, (page, rows) in enumerate(zip(pages, edges, strict=True), 1):
        dropped = {
            id(one)
            for key, row in rows
            for one in row
            if seen[key] >= least or (len(row) == 1 and one.text == str(number))
        }
        kept.append([one for one in page if id(one) not in dropped])
    emptied = sum(bool(page) and not rest for page, rest in zip(pages, kept, strict=True))
    if emptied >= least:
        # Pages of one line each, as of a ledger: then the lines at their edges are the text.
        return [rest or list(page) for page, rest in zip(pages, kept, strict=True)]
    return kept


def _edge_rows(
    page: Sequence[Segment], height: float
) -> list[tuple[tuple[str, int], Sequence[Segment]]]:
    rows = rows_of(page)
    top = [row for row in rows[:_EDGE_ROWS] if row[0].bottom < _EDGE * height]
    bottom = [row for row in rows[-_EDGE_ROWS:] if row[0].top > (1 - _EDGE) * height]
    return [(_key(row), row) for row in (*top, *bottom)]


def _key(row: Sequence[Segment]) -> tuple[str, int]:
    words = " ".join(" ".join(one.text.split()) for one in row).casefold()
    text = _DIGITS.sub("#", words)
    # Numbers alone are those of pages only where they stand at the same height.
    has_letters = any(character.isalpha() for character in text)
    return text, 0 if has_letters else round(row[0].middle / _NEAR)


def without_line_numbers(page: Sequence[Segment]) -> list[Segment]:
    """Return the segments without numbers of lines in the margin, as in pleadings and transcripts.

    They count on one by one, stand under each other, and nothing stands left of them.
    """
    numbers = [one for one in page if one.text.isdecimal() and len(one.text) <= _MOST_DIGITS]
    if len(numbers) < _LEAST_NUMBERS:
        return list(page)
    leftmost = min(one.left for one in page)
    column = sorted(
        (one for one in numbers if one.left < leftmost + 2 * one.size), key=lambda one: one.top
    )
    aligned = [one for one in column if abs(one.right - column[0].right) < _ALIGNED + one.size]
    values = [int(one.text) for one in aligned]
    counted = all(after - before == 1 for before, after in pairwise(values))
    if len(aligned) < _LEAST_NUMBERS or not counted:
        return list(page)
    dropped = {id(one) for one in aligned}
    edge = max(one.right for one in aligned)
    rest = [one for one in page if id(one) not in dropped]
    # In a table the numbers of the rows belong to what stands beside them.
    beside = [row for row in rows_of(rest) if any(one.left >= edge for one in row)]
    tabular = sum(len(row) > _FEW_CELLS for row in beside) > len(beside) // 2
    return list(page) if tabular else rest
