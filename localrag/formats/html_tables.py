"""Tables of a web page: data, or layout from the days before style sheets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.formats.grids import names_columns
from localrag.formats.spans import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from selectolax.lexbor import LexborNode

__all__ = ["is_data_table", "rows_of"]

_LAYOUT_ROLES = frozenset(("presentation", "none"))
_NOT_IN_DATA = "table, h1, h2, h3, pre, article, section, form"
_MOST_SPAN = 100


def is_data_table(table: LexborNode) -> bool:
    """Whether a table has rows and columns of values; otherwise its cells are parts of the page."""
    if (table.attributes.get("role") or "") in _LAYOUT_ROLES:
        return False
    rows = _rows(table)
    widest = max((len(_cells(row)) for row in rows), default=0)
    if widest < len(("name", "value")):
        return False
    return not any(cell.css_first(_NOT_IN_DATA) for row in rows for cell in _cells(row))


def rows_of(
    table: LexborNode, text_of: Callable[[LexborNode], str]
) -> tuple[list[list[str]], bool]:
    """Return the cells of a data table, and whether the first row names the columns.

    A cell that spans several places stands in the first of them; header rows become one.
    """
    rows: list[list[str]] = []
    headers = 0
    spanned: dict[int, int] = {}
    for row in _rows(table):
        cells: list[str] = []
        elements = _cells(row)
        for cell in elements:
            while _take(spanned, len(cells)):
                cells.append("")
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            for column in range(len(cells), len(cells) + width) if height > 1 else ():
                spanned[column] = height - 1
            cells += [text_of(cell), *[""] * (width - 1)]
        while _take(spanned, len(cells)):
            cells.append("")
        in_head = row.parent is not None and row.parent.tag == "thead"
        if headers == len(rows) and (in_head or all(cell.tag == "th" for cell in elements)):
            headers += 1
        rows.append(cells)
    if 0 < headers < len(rows):
        return [_joined(rows[:headers]), *rows[headers:]], True
    return rows, names_columns(rows)


def _rows(table: LexborNode) -> list[LexborNode]:
    """Return the rows of a table, those of tables inside it not among them."""
    rows = []
    child = table.child
    while child is not None:
        if child.tag == "tr":
            rows.append(child)
        elif child.tag in ("thead", "tbody", "tfoot"):
            rows += _rows(child)
        child = child.next
    return rows


def _cells(row: LexborNode) -> list[LexborNode]:
    cells = []
    child = row.child
    while child is not None:
        if child.tag in ("td", "th"):
            cells.append(child)
        child = child.next
    return cells


def _take(spanned: dict[int, int], column: int) -> bool:
    """Whether a cell from above reaches into a column of this row; counts it."""
    if spanned.get(column, 0) < 1:
        return False
    spanned[column] -= 1
    return True


def _span(cell: LexborNode, name: str) -> int:
    return max(1, whole_number(cell.attributes.get(name), 1, _MOST_SPAN))


def _joined(rows: list[list[str]]) -> list[str]:
    width = max(map(len, rows))
    full = [[*row, *[""] * (width - len(row))] for row in rows]
    return [" ".join(row[column] for row in full if row[column]) for column in range(width)]
