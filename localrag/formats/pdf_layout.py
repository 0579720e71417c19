"""The reading order of a PDF page: columns one after the other, tables row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from localrag.formats.pdf_page import Segment
from localrag.formats.pdf_tables import Table, find_tables, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Line", "Table", "reading_order"]

_LEAST_LINES = 3
"""Lines on either side of a gutter."""
_MOST_CROSSING = 0.25
"""Share of the lines that may cross a gutter: titles and figures over all columns."""
_SIDE_BY_SIDE = 0.3
_GAP = 1.2
"""In sizes of the font: a gap over the whole width that parts a page."""
_DEEPEST = 12

_Item = Segment | Table


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text as it is read."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool
    column: tuple[float, float]
    """Left and right edge of the column it stands in."""


def reading_order(segments: Sequence[Segment]) -> list[Line | Table]:
    """Return the lines and tables of a page in the order in which a person reads them."""
    tables, rest = find_tables(segments)
    return list(_ordered([*tables, *rest], 0))


def _ordered(items: Sequence[_Item], depth: int) -> Iterator[Line | Table]:
    if not items:
        return
    gutter = _gutter(items) if depth < _DEEPEST else None
    if gutter is not None:
        for band in _bands(items, gutter):
            left = [one for one in band if one.right <= gutter]
            right = [one for one in band if one.left >= gutter]
            if len(left) + len(right) < len(band):
                yield from _column(band)
            else:
                yield from _ordered(left, depth + 1)
                yield from _ordered(right, depth + 1)
        return
    split = _split(items) if depth < _DEEPEST else None
    if split is not None:
        yield from _ordered([one for one in items if one.top < split], depth + 1)
        yield from _ordered([one for one in items if one.top >= split], depth + 1)
        return
    yield from _column(items)


def _size(items: Sequence[_Item]) -> float:
    return median([one.size for one in items if isinstance(one, Segment)] or [10.0])


def _gutter(items: Sequence[_Item]) -> float | None:
    """Return where a gap runs down between two columns: the one that the fewest lines cross."""
    # The lines of a column begin below each other.
    lefts = Counter(round(one.left) for one in items)
    candidates = sorted(left - 1.0 for left, count in lefts.items() if count >= _LEAST_LINES)
    best, fewest = None, _MOST_CROSSING * len(items)
    for x in candidates:
        crossing = _crossing(items, x)
        if crossing is not None and crossing < fewest:
            best, fewest = x, crossing
    return best


def _crossing(items: Sequence[_Item], x: float) -> int | None:
    """Return how many items cross a gutter; None where it parts no columns that stand abreast."""
    left = [one for one in items if one.right <= x]
    right = [one for one in items if one.left >= x]
    fewest = min(len(left), len(right))
    if fewest < _LEAST_LINES:
        return None
    top = max(min(one.top for one in left), min(one.top for one in right))
    bottom = min(max(one.bottom for one in left), max(one.bottom for one in right))
    abreast = [sum(top < one.bottom and one.top < bottom for one in side) for side in (left, right)]
    if min(abreast) < max(_LEAST_LINES, _SIDE_BY_SIDE * fewest):
        return None
    return len(items) - len(left) - len(right)


def _bands(items: Sequence[_Item], gutter: float) -> Iterator[list[_Item]]:
    """Yield what crosses the gutter, and what lies between, from the top."""
    crossing = sorted(
        (one for one in items if one.left < gutter < one.right), key=lambda one: one.top
    )
    rest = sorted((one for one in items if not one.left < gutter < one.right), key=_middle)
    for one in crossing:
        above = [other for other in rest if _middle(other) < one.top]
        rest = rest[len(above) :]
        if above:
            yield above
        yield [one]
    if rest:
        yield rest


def _middle(item: _Item) -> float:
    return (item.top + item.bottom) / 2


def _split(items: Sequence[_Item]) -> float | None:
    """Return the height of the largest gap over the whole width; None where there is none."""
    best, least = None, _GAP * _size(items)
    reached = None
    for one in sorted(items, key=lambda item: item.top):
        if reached is not None and one.top - reached > least:
            best, least = one.top, one.top - reached
        reached = one.bottom if reached is None else max(reached, one.bottom)
    return best


def _column(items: Sequence[_Item]) -> Iterator[Line | Table]:
    """Yield the lines of one column from the top."""
    segments = [one for one in items if isinstance(one, Segment)]
    tables = [one for one in items if isinstance(one, Table)]
    edges = (
        min((one.left for one in segments), default=0.0),
        max((one.right for one in segments), default=0.0),
    )
    lines: list[Line | Table] = [_line(row, edges) for row in rows_of(segments)]
    yield from sorted([*lines, *tables], key=lambda one: one.top)


def _line(row: Sequence[Segment], column: tuple[float, float]) -> Line:
    largest = max(row, key=lambda one: len(one.text))
    return Line(
        text="  ".join(one.text for one in row),
        left=row[0].left,
        top=min(one.top for one in row),
        right=max(one.right for one in row),
        bottom=max(one.bottom for one in row),
        size=largest.size,
        bold=all(one.bold for one in row),
        column=column,
    )
