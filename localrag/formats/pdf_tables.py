# ruff: noqa: RUF001 - dashes of many kinds are the subject
"""Tables on a PDF page: rows whose pieces stand under each other.

A PDF knows no tables, only pieces of text at places. Rows of pieces that line up are a table unless
the pieces fill their columns, as the lines of newspaper columns do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mean, median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localrag.formats.pdf_page import Segment

__all__ = ["Table", "find_tables", "rows_of"]

_SAME_ROW = 0.5
_CELL_GAP = 0.55
"""In sizes of the font: pieces that are closer are one cell."""
_BULLET = re.compile(
    r"[•‣▪▫●○◦■□–—\-*·\uf0b7\uf0a7]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]|\d{1,2}"
)
_BULLET_GAP = 4.0
_NUMBER = re.compile(r"[-+−(]?[$€£¥]?\s?[\d.,]*\d[\d.,]*\s?[%)]?|[-–—]|n/?a", re.IGNORECASE)
_ROW_GAP = 2.2
"""In heights of a row: what is farther apart belongs to another table."""
_MOST_SINGLES = 2
_PROSE_FILL = 0.75
_PROSE_LENGTH = 20
_SHORT = 40
_MOST_PROSE_COLUMNS = 4
_CONTINUED = 0.45
_SPANNING = 0.5


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of text with the place of the whole."""

    rows: tuple[tuple[str, ...], ...]
    header_rows: int
    left: float
    top: float
    right: float
    bottom: float


def rows_of(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Return the segments row by row from the top, each row from the left."""
    rows: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda one: (one.middle, one.left)):
        last = rows[-1] if rows else None
        if last:
            height = min(segment.bottom - segment.top, last[0].bottom - last[0].top)
            if segment.middle - last[0].middle <= _SAME_ROW * max(height, 1.0):
                last.append(segment)
                continue
        rows.append([segment])
    return [sorted(row, key=lambda one: one.left) for row in rows]


def find_tables(segments: Sequence[Segment]) -> tuple[list[Table], list[Segment]]:
    """Return the tables of a page, and the segments that are in none."""
    rows = [_cells(row) for row in rows_of(segments)]
    tables: list[Table] = []
    rest: list[Segment] = []
    for run in _runs(rows):
        table = _table(run)
        if table is None:
            rest += (cell for row in run for cell in row)
        else:
            tables.append(table)
    return tables, rest


def _cells(row: Sequence[Segment]) -> list[Segment]:
    """Join pieces of a row that one cell was written in, and bullets with their items."""
    cells: list[Segment] = []
    for segment in row:
        last = cells[-1] if cells else None
        if last:
            gap = segment.left - last.right
            near = (
                _BULLET_GAP
                if _BULLET.fullmatch(last.text) and not _is_number(segment)
                else _CELL_GAP
            )
            if gap <= near * segment.size:
                cells[-1] = replace(
                    last,
                    text=f"{last.text} {segment.text}",
                    right=max(last.right, segment.right),
                    top=min(last.top, segment.top),
                    bottom=max(last.bottom, segment.bottom),
                    size=max(last.size, segment.size),
                    bold=last.bold and segment.bold,
                )
                continue
        cells.append(segment)
    return cells


def _is_number(segment: Segment) -> bool:
    return _NUMBER.fullmatch(segment.text) is not None


def _runs(rows: Sequence[list[Segment]]) -> Iterator[list[list[Segment]]]:
    """Yield consecutive rows that may be a table, and the rows between such runs one by one."""
    run: list[list[Segment]] = []
    for row in rows:
        singles = _singles_at_end(run)
        if run and (_is_far(run[-1], row) or (len(row) == 1 and singles >= _MOST_SINGLES)):
            yield from _without_single_ends(run)
            run = []
        run.append(row)
    if run:
        yield from _without_single_ends(run)


def _singles_at_end(run: Sequence[list[Segment]]) -> int:
    count = 0
    for row in reversed(run):
        if len(row) > 1:
            break
        count += 1
    return count


def _is_far(above: Sequence[Segment], below: Sequence[Segment]) -> bool:
    height = max(median(one.bottom - one.top for one in below), 1.0)
    return min(one.top for one in below) - max(one.bottom for one in above) > _ROW_GAP * height


def _without_single_ends(run: list[list[Segment]]) -> Iterator[list[list[Segment]]]:
    first = next((at for at, row in enumerate(run) if len(row) > 1), len(run))
    end = len(run) - _singles_at_end(run)
    yield from ([row] for row in run[:first])
    if first < end:
        yield run[first:end]
    yield from ([row] for row in run[max(first, end) :])


def _table(run: Sequence[list[Segment]]) -> Table | None:
    full = [row for row in run if len(row) > 1]
    if len(full) < len(("header", "row")):
        return None
    columns = _columns(full)
    if len(columns) < len(("name", "value")) or _is_prose(full, columns):
        return None
    placed = [_placed(row, columns) for row in run]
    texts, starts = _joined_rows(run, placed)
    if len(texts) < len(("header", "row")):
        return None
    cells = [cell for row in run for cell in row]
    return Table(
        rows=tuple(tuple(row) for row in texts),
        header_rows=_header_rows(texts, run, starts),
        left=min(cell.left for cell in cells),
        top=min(cell.top for cell in cells),
        right=max(cell.right for cell in cells),
        bottom=max(cell.bottom for cell in cells),
    )


def _columns(rows: Sequence[list[Segment]]) -> list[tuple[float, float]]:
    """Return the intervals from left to right that the cells of most rows lie in."""
    typical = median(len(row) for row in rows)
    intervals: list[tuple[float, float]] = []
    cells = sorted(
        (cell for row in rows if len(row) >= typical for cell in row), key=lambda one: one.left
    )
    for cell in cells:
        if intervals and cell.left < intervals[-1][1]:
            intervals[-1] = (intervals[-1][0], max(intervals[-1][1], cell.right))
        else:
            intervals.append((cell.left, cell.right))
    return intervals


def _is_prose(rows: Sequence[list[Segment]], columns: Sequence[tuple[float, float]]) -> bool:
    """Whether the rows are lines of text that stand side by side."""
    if len(columns) > _MOST_PROSE_COLUMNS:
        return False
    prose = 0
    for left, right in columns:
        cells = [one for row in rows for one in row if left <= (one.left + one.right) / 2 <= right]
        if not cells:
            continue
        fill = mean(one.right - one.left for one in cells) / max(right - left, 1.0)
        length = mean(len(one.text) for one in cells)
        prose += (fill >= _PROSE_FILL and length >= _PROSE_LENGTH) or length > _SHORT
    return prose * 2 >= len(columns)


def _placed(row: Sequence[Segment], columns: Sequence[tuple[float, float]]) -> list[str]:
    """Return the texts of a row by column; a cell over several columns stands in the first."""
    texts = [""] * len(columns)
    for cell in row:
        overlaps = [min(cell.right, right) - max(cell.left, left) for left, right in columns]
        reached = [at for at, overlap in enumerate(overlaps) if overlap > 0]
        at = reached[0] if reached else max(range(len(columns)), key=overlaps.__getitem__)
        texts[at] = f"{texts[at]} {cell.text}".strip()
    return texts


def _joined_rows(
    run: Sequence[list[Segment]], placed: Sequence[list[str]]
) -> tuple[list[list[str]], list[int]]:
    """Join rows that only continue the cells of the row above; return them and their first rows."""
    gaps = [
        min(one.top for one in below) - max(one.bottom for one in above)
        for above, below in pairwise(run)
    ]
    texts: list[list[str]] = []
    starts: list[int] = []
    for at, row in enumerate(placed):
        if texts and not row[0] and _continues(gaps, at, placed):
            last = texts[-1]
            texts[-1] = [f"{a} {b}".strip() for a, b in zip(last, row, strict=True)]
            continue
        texts.append(row)
        starts.append(at)
    return texts, starts


def _continues(gaps: Sequence[float], at: int, placed: Sequence[list[str]]) -> bool:
    filled = sum(bool(cell) for cell in placed[at])
    above = sum(bool(cell) for cell in placed[at - 1])
    return filled < above and gaps[at - 1] <= min(gaps) + _CONTINUED * abs(median(gaps)) + 1.0


def _header_rows(
    texts: Sequence[Sequence[str]], run: Sequence[list[Segment]], starts: Sequence[int]
) -> int:
    """Return how many rows name the columns: bold, or without numbers above numbers."""
    bold = 0
    while bold < len(texts) - 1 and all(cell.bold for cell in run[starts[bold]]):
        bold += 1
    if bold:
        return bold
    numeric = [any(_NUMBER.fullmatch(cell) for cell in row[1:] if cell) for row in texts]
    first = next((at for at, has_number in enumerate(numeric) if has_number), 0)
    return first if first <= len(texts) // 2 else 0
