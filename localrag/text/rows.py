"""The rows of tables in a passage: their cells, and the names of their columns.

The cells of a row are parted by ``|``, as in Markdown, or by tabs, as in tables that were told from
where words stand on a page. Under the header of the first kind is a rule; the header of the second
is known where the chunk repeats it, or by having no number above rows that have some.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "cells_of",
    "header_of",
    "is_piped",
    "is_row",
    "is_rule",
    "line_of",
    "named_row",
    "names_columns",
    "rows_below",
    "tabbed_columns",
]

_RULE = re.compile(r"\|?[ \t]*:?-{1,}:?[ \t]*(\|[ \t]*:?-{1,}:?[ \t]*)*\|?")
"""The line under a table's header."""
_CELL_MARK = re.compile(r"(?<!\\)\|")
_NUMBER = re.compile(r"[^\w\s]{0,2}\d[\d.,'\s]*+\)?\s?[^\W\d]{0,3}[^\w\s]?")
"""A cell that is a number, with its sign or unit; "Area (km2)" is none."""


def is_row(text: str) -> bool:
    """Whether a sentence is the row of a table."""
    return "\n" not in text.strip() and (is_piped(text) or "\t" in text.strip())


def is_piped(text: str) -> bool:
    """Whether a row is one of Markdown."""
    return text.startswith("|")


def is_rule(text: str) -> bool:
    """Whether a row is the line under the names of columns."""
    return "-" in text and _RULE.fullmatch(text.strip()) is not None


def cells_of(row: str) -> list[str]:
    """Return the cells of a row without the blanks around them."""
    if is_piped(row):
        return [cell.strip() for cell in _CELL_MARK.split(row.strip().strip("|"))]
    return [" ".join(cell.split()) for cell in row.split("\t")]


def line_of(text: str, position: int) -> str:
    """Return the whole line around a character: its first and last cells may be empty."""
    end = text.find("\n", position)
    return text[text.rfind("\n", 0, position) + 1 : len(text) if end < 0 else end]


def rows_below(text: str, position: int) -> list[str]:
    """Return the rows with tabs on the lines that follow the one that ends at `position`."""
    rows = []
    for line in text[position:].split("\n")[1:]:
        if not is_row(line) or is_piped(line):
            break
        rows.append(line)
    return rows


def names_columns(row: str, below: Sequence[str]) -> bool:
    """Whether the first row of a table with tabs names its columns: it alone has no number."""
    return (
        not is_piped(row) and bool(below) and not _has_number(row) and all(map(_has_number, below))
    )


def tabbed_columns(line: str, below: Sequence[str]) -> list[str]:
    """Return the names that a row with tabs gives to the columns of the rows in the lines below."""
    rows = rows_below("\n".join((line, *below)), 0)
    return cells_of(line) if names_columns(line, rows) else []


def _has_number(row: str) -> bool:
    return any(_NUMBER.fullmatch(cell) for cell in cells_of(row))


def header_of(lines: Sequence[str]) -> list[str]:
    """Return the names of columns in the header rows that a chunk repeats; none where it has none.

    Header rows with tabs lie one above the other: "Handgun" below "Permits" is one name.
    """
    if not lines or not is_row(lines[-1]):
        return []
    if is_piped(lines[0]):
        return cells_of(lines[0])
    columns = zip_longest(*(cells_of(line) for line in lines), fillvalue="")
    return [" ".join(part for part in column if part) for column in columns]


def named_row(row: str, columns: Sequence[str]) -> str:
    """Return a row as ``column: cell; column: cell``; as it stands where the columns differ."""
    cells = cells_of(row)
    if len(cells) != len(columns):
        return " ".join(row.split())
    pairs = zip(columns, cells, strict=True)
    return "; ".join(f"{column}: {cell}" if column else cell for column, cell in pairs if cell)
