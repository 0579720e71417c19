"""Rows of cells become lines of text: a Markdown table, or records where cells hold long texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.formats.builder import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.formats.builder import DocumentBuilder

__all__ = ["add_rows", "markdown_rows", "trimmed_rows"]

_LONG_ROW = 500
"""Mean characters of a row above which the rows of a table are given as records."""
_LONGEST_NAME = 120
_RECORD_LEVEL = 2


def markdown_rows(rows: Sequence[Sequence[str]], *, header: bool) -> tuple[list[str], int]:
    """Return a table as lines, and how many of them name its columns.

    Where no row names the columns there is no rule either: the first row is as good as the others.
    """
    if not rows:
        return [], 0
    width = max(map(len, rows))
    lines = [_line(row, width) for row in rows]
    if not header:
        return lines, 0
    lines.insert(1, "|" + " --- |" * width)
    return lines, 2


def _line(row: Sequence[str], width: int) -> str:
    cells = [one_line(cell).replace("|", "\\|") for cell in row]
    cells += [""] * (width - len(cells))
    return "| " + " | ".join(cells) + " |"


def trimmed_rows(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows of equal width without the columns that are empty in all of them."""
    width = max(map(len, rows), default=0)
    full = [[*row, *[""] * (width - len(row))] for row in rows]
    kept = [column for column in range(width) if any(row[column].strip() for row in full)]
    return [[row[column] for column in kept] for row in full]


def add_rows(  # noqa: PLR0913 - all but the first two are named and have defaults
    builder: DocumentBuilder,
    rows: Sequence[Sequence[str]],
    *,
    header: bool,
    page: int | None = None,
    lines: Sequence[int] = (),
    keys: bool = False,
) -> None:
    """Add a table, or one record per row where the cells are too long for a line.

    Args:
        builder: what the rows are added to.
        rows: cells, the names of the columns first if `header`.
        header: whether the first row names the columns.
        page: page, slide or sheet.
        lines: line of each row in the source.
        keys: whether the first cells may become headings of the records.
    """
    rows = trimmed_rows(rows)
    if not any(rows):
        return
    characters = sum(len(cell) for row in rows for cell in row)
    if header and characters > _LONG_ROW * len(rows):
        _add_records(builder, rows, page, lines, keys=keys)
        return
    text, header_rows = markdown_rows(rows, header=header)
    if lines and header_rows:
        lines = [lines[0], lines[0], *lines[1:]]
    builder.table(text, header_rows, page=page, lines=lines)


def _add_records(
    builder: DocumentBuilder,
    rows: Sequence[Sequence[str]],
    page: int | None,
    lines: Sequence[int],
    *,
    keys: bool,
) -> None:
    names, records = [one_line(name) for name in rows[0]], rows[1:]
    firsts = [one_line(row[0]) for row in records]
    different = len(set(firsts)) == len(firsts)
    has_key = keys and different and all(0 < len(key) <= _LONGEST_NAME for key in firsts)
    for number, (key, row) in enumerate(zip(firsts, records, strict=True), 1):
        if has_key:
            builder.heading(key, _RECORD_LEVEL, page=page, line=lines[number] if lines else None)
        shown = _fields(names[has_key:], row[has_key:])
        builder.record(shown, page=page, line=lines[number] if lines else None)


def _fields(names: Sequence[str], row: Sequence[str]) -> list[str]:
    """Return ``name: value`` lines; a cell may hold whole paragraphs, whose lines stay lines."""
    shown: list[str] = []
    for name, cell in zip(names, row, strict=True):
        filled = [line.rstrip() for line in cell.splitlines() if line.strip()]
        if filled:
            shown += [f"{name}: {filled[0]}" if name else filled[0], *filled[1:]]
    return shown
