"""XLSX workbooks: each sheet is a section, its rows stay with the names of their columns.

Formulas give the values that were stored with them. `Block.page` is the number of the sheet and
`Document.line` the number of the row.
"""

from __future__ import annotations

import datetime as dt
import io
import re
import warnings
from typing import TYPE_CHECKING

from openpyxl import load_workbook

from localrag.errors import ReadError
from localrag.formats.builder import DocumentBuilder
from localrag.formats.containers import XLSX
from localrag.formats.delimited import add_part
from localrag.formats.grids import Row, parts_of
from localrag.formats.ooxml import core_properties, open_package
from localrag.formats.titles import title_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openpyxl.cell.read_only import ReadOnlyCell
    from openpyxl.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

    from localrag.records import Document

__all__ = ["read_spreadsheet"]

_MOST_CELLS = 5_000_000
_MOST_ROWS = 1_048_576
_DIGITS = 15
"""What a spreadsheet shows of a number: beyond it binary fractions become visible."""
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')


def read_spreadsheet(data: bytes, uri: str) -> Document:
    """Return the sheets of the workbook in `data`; hidden ones too, noted in the metadata.

    Raises:
        ReadError: ``"damaged"``, ``"encrypted"`` or ``"too large"``.
    """
    # Not from openpyxl, which makes up the dates where they are missing.
    metadata = core_properties(open_package(data))
    try:
        with warnings.catch_warnings():
            # About extensions and print areas that nobody wants to search.
            warnings.simplefilter("ignore")
            workbook = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            return _document(workbook, metadata, uri)
    except ReadError:
        raise
    except Exception as error:  # openpyxl lets any error of its many parsers through
        raise ReadError(
            "damaged", f"the workbook cannot be read ({_named(error)}); open and save it again"
        ) from error


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _document(workbook: Workbook, metadata: dict[str, object], uri: str) -> Document:
    builder = DocumentBuilder()
    budget = _MOST_CELLS
    hidden = []
    for number, sheet in enumerate(workbook.worksheets, 1):
        if sheet.sheet_state != "visible":
            hidden.append(sheet.title)
        rows = list(_rows(sheet))
        budget -= sum(len(row.cells) for row in rows)
        if budget < 0:
            raise ReadError("too large", f"more than {_MOST_CELLS:,} cells; split the workbook")
        if rows:
            builder.heading(sheet.title, 1, page=number, line=rows[0].line)
        for part in parts_of(rows):
            add_part(builder, part, page=number)
    metadata["sheets"] = [sheet.title for sheet in workbook.worksheets]
    if hidden:
        metadata["hidden_sheets"] = hidden
    return builder.build(title_of(metadata, (), uri), XLSX, metadata)


def _rows(sheet: Worksheet) -> Iterator[Row]:
    # The stated size of a sheet may be wrong, and would cut it.
    sheet.reset_dimensions()
    for number, cells in enumerate(sheet.iter_rows(), 1):
        if number > _MOST_ROWS:
            raise ReadError("damaged", f"{sheet.title} has more rows than a sheet can have")
        shown = [_shown(cell) for cell in cells]
        while shown and not shown[-1]:
            shown.pop()
        if shown:
            yield Row(number, tuple(shown), number)


def _shown(cell: ReadOnlyCell) -> str:
    """Return the value of a cell as a person reads it."""
    value = cell.value
    match value:
        case bool():
            return str(value).upper()
        case int() | float():
            return _number(value, str(cell.number_format or ""))
        case dt.datetime():
            return _moment(value)
        case dt.date() | dt.time():
            return value.isoformat()
        case None:
            return ""
        case _:
            return str(value).strip()


def _moment(value: dt.datetime) -> str:
    if value.time() == dt.time():
        return value.date().isoformat()
    return value.isoformat(sep=" ", timespec="seconds" if value.second else "minutes")


def _number(value: float, number_format: str) -> str:
    if "%" in _QUOTED.sub("", number_format):
        return f"{value * 100:.{_DIGITS - 3}g}%"
    return f"{value:.0f}" if value % 1 == 0 else f"{value:.{_DIGITS}g}"
