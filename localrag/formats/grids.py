# ruff: noqa: RUF001 - signs that numbers are written with are the subject
"""What a person means by the cells of a sheet: titles, tables with their header, remarks.

A sheet is a grid without structure. Blank rows part it, rows with one filled cell are titles and
remarks, and the rows above the first numbers name the columns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Part", "Row", "names_columns", "parts_of"]

_NUMBER = re.compile(
    r"""[-+−(]?\s?[$€£¥]?\s?\d[\d., ’']*\s?(?:[%)€$£¥]|e[-+]?\d+)?  # amounts
      | \d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T\s][\d:.]+)?            # dates
      | \d{1,2}:\d{2}(?::\d{2})?""",
    re.VERBOSE,
)
_NOTHING = frozenset(("", "-", "–", "—", "n/a", "N/A", "NA", "null", "None"))
_YEAR = re.compile(r"(?:19|20)\d\d")
_ENUMERATOR = re.compile(r"\(?(?:[ivxlcdm]+|\d+|[a-z])[.)]", re.IGNORECASE)
_LONGEST_NAME = 200
_MOST_HEADER_ROWS = 4
_FEW = 2
_SPARSE_SHARE = 3
_SAMPLE = 200


@dataclass(frozen=True, slots=True)
class Row:
    """One row with something in it."""

    number: int
    """Its number among the rows, from 1: where one is missing there is a blank row."""
    cells: tuple[str, ...]
    line: int
    """Where it begins in the source, from 1: a cell of a text file may hold line breaks."""

    @property
    def filled(self) -> int:
        """Number of cells that are not blank."""
        return sum(not cell.isspace() and cell != "" for cell in self.cells)

    @property
    def has_number(self) -> bool:
        """Whether a cell is a number or a date; a year may be the name of a column."""
        return any(
            _NUMBER.fullmatch(cell.strip()) and not _YEAR.fullmatch(cell.strip())
            for cell in self.cells
        )


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one role."""

    rows: tuple[Row, ...]
    is_table: bool
    """Whether the rows are a table; otherwise each is a line of text."""
    header: tuple[str, ...] = ()
    """Names of the columns, those of several rows joined; not among `rows`."""
    header_line: int = 0


def parts_of(rows: Sequence[Row]) -> list[Part]:
    """Return the parts of a sheet, in order; together they hold every row once.

    `rows` are the rows that are not blank: a gap in their numbers is a blank row.
    """
    parts: list[Part] = []
    for run in _runs(rows):
        for part in _parts_of_run(run):
            last = parts[-1] if parts else None
            if last and last.is_table and part.is_table and not part.header:
                # A blank row inside a table parts nothing: its header holds below as well.
                parts[-1] = Part((*last.rows, *part.rows), True, last.header, last.header_line)
            else:
                parts.append(part)
    return parts


def _runs(rows: Sequence[Row]) -> Iterator[list[Row]]:
    run: list[Row] = []
    for row in rows:
        if run and row.number > run[-1].number + 1 and not _is_header_only(run):
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def _is_header_only(run: Sequence[Row]) -> bool:
    """Whether a blank row follows the header of a table, and its numbers come after it."""
    return (
        len(run) <= _MOST_HEADER_ROWS
        and run[-1].filled > 1
        and not any(row.has_number for row in run)
    )


def _parts_of_run(run: Sequence[Row]) -> Iterator[Part]:
    start = 0
    while start < len(run) and _is_title(run[start], run[start + 1 :]):
        start += 1
    end = len(run)
    while end > start and run[end - 1].filled == 1 and len(run[end - 1].cells) > 1:
        if run[end - 1].cells[0] == "" or _looks_like_row(run[end - 1], run[start : end - 1]):
            break
        end -= 1
    if start:
        yield Part(tuple(run[:start]), is_table=False)
    if start < end and all(row.filled == 1 for row in run[start:end]):
        yield Part(tuple(run[start:end]), is_table=False)
    elif start < end:
        yield _table(run[start:end])
    if end < len(run):
        yield Part(tuple(run[end:]), is_table=False)


def _is_title(row: Row, below: Sequence[Row]) -> bool:
    widest = max((other.filled for other in below[:_SAMPLE]), default=0)
    if row.filled == 1:
        return widest != 1 or len(row.cells[0]) > _LONGEST_NAME or not below
    # "In millions" and "January to June" above a row with the names of eight columns.
    return row.filled <= _FEW and not row.has_number and widest >= _SPARSE_SHARE * row.filled


def _looks_like_row(row: Row, above: Sequence[Row]) -> bool:
    """Whether a row with a single cell belongs to the table above: a short name, not a remark."""
    lengths = sorted(len(other.cells[0]) for other in above[-_SAMPLE:])
    return bool(lengths) and len(row.cells[0]) <= 2 * lengths[len(lengths) // 2] + 10


def _table(run: Sequence[Row]) -> Part:
    header = _header_rows(run)
    if not header:
        return Part(tuple(run), is_table=True)
    width = max(len(row.cells) for row in run)
    names = [
        " ".join(row.cells[column] for row in run[:header] if column < len(row.cells)).strip()
        for column in range(width)
    ]
    return Part(tuple(run[header:]), True, tuple(names), run[header - 1].line)


def _header_rows(run: Sequence[Row]) -> int:
    """Return how many rows name the columns; 0 where none does."""
    sample = run[:_SAMPLE]
    first_number = next((index for index, row in enumerate(sample) if row.has_number), None)
    if first_number is None:
        return int(names_columns([row.cells for row in sample]))
    if 0 < first_number <= _MOST_HEADER_ROWS:
        # Rows of text above the numbers; of many text rows only the first is a header.
        texts = [row for row in sample[:first_number] if row.filled > 1]
        if texts and sample[0].filled * 2 >= sample[first_number].filled:
            return first_number if len(run) > 2 * first_number else 1
    return int(first_number > 0 and names_columns([row.cells for row in sample]))


def names_columns(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds names: short, all different, and none of them a value below."""
    if len(rows) < len(("header", "row")):
        return False
    names = [cell.strip() for cell in rows[0] if cell.strip() not in _NOTHING]
    widest = max(sum(bool(cell.strip()) for cell in row) for row in rows[1:])
    if len(names) < max(1, widest - 1) or len(set(names)) < len(names):
        return False
    if any(len(name) > _LONGEST_NAME or _NUMBER.fullmatch(name) for name in names):
        return False
    if _ENUMERATOR.fullmatch(names[0]):
        return False
    return not set(names) & {cell.strip() for row in rows[1:] for cell in row}
