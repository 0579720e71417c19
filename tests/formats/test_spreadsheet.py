import datetime as dt
import io
import zipfile

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.chartsheet import Chartsheet

from localrag.errors import ReadError
from localrag.formats import spreadsheet
from localrag.formats.containers import XLSX
from localrag.formats.registry import read_document
from localrag.formats.spreadsheet import read_spreadsheet


def saved(workbook: Workbook) -> bytes:
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def sheet_of(*rows: tuple[object, ...]) -> bytes:
    workbook = Workbook()
    for row in rows:
        workbook.active.append(row)
    return saved(workbook)


def text_of(*rows: tuple[object, ...]) -> str:
    return read_spreadsheet(sheet_of(*rows), "a.xlsx").text


def test_sheets_are_sections() -> None:
    workbook = Workbook()
    workbook.active.title = "Costs"
    workbook.active.append(("name", "sum"))
    workbook.active.append(("a", 1))
    second = workbook.create_sheet("Notes")
    second["B3"] = "A remark"
    workbook.create_sheet("Empty")
    document = read_document(saved(workbook), "book.xlsx")
    assert document.media_type == XLSX
    assert document.text == (
        "# Costs\n\n| name | sum |\n| --- | --- |\n| a | 1 |\n\f\n# Notes\n\nA remark"
    )
    assert [block.page for block in document.blocks] == [1, 1, 2, 2]
    assert document.blocks[1].header_rows == 2
    assert document.line(document.text.index("| a")) == 2
    assert document.line(document.text.index("A remark")) == 3
    assert document.metadata["sheets"] == ["Costs", "Notes", "Empty"]
    assert document.title == "book"


def test_values_are_shown_as_a_person_reads_them() -> None:
    workbook = Workbook()
    sheet = workbook.active
    sheet.append(("what", "value"))
    shown = {
        "day": (dt.datetime(2024, 2, 29, 0, 0), "2024-02-29"),  # noqa: DTZ001
        "moment": (dt.datetime(2024, 2, 29, 13, 5), "2024-02-29 13:05"),  # noqa: DTZ001
        "time": (dt.time(7, 30), "07:30:00"),
        "whole": (12.0, "12"),
        "long": (0.1 + 0.2, "0.3"),
        "truth": (True, "TRUE"),
        "lines": ("one\ntwo", "one two"),
    }
    for name, (value, _) in shown.items():
        sheet.append((name, value))
    sheet.append(("share", 0.255))
    sheet.cell(sheet.max_row, 2).number_format = "0.0%"
    text = read_spreadsheet(saved(workbook), "a.xlsx").text
    for name, (_, expected) in shown.items():
        assert f"| {name} | {expected} |" in text
    assert "| share | 25.5% |" in text


def test_formulas_give_their_stored_values() -> None:
    data = sheet_of(("name", "sum"), ("a", "=1+1"), ("b", 5))
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, part.replace(b"<v></v>", b"<v>2</v>").replace(b"<v />", b"<v>2</v>"))
    assert "| a | 2 |" in read_spreadsheet(buffer.getvalue(), "a.xlsx").text


def test_hidden_sheets_are_noted() -> None:
    workbook = Workbook()
    workbook.active.append(("a",))
    hidden = workbook.create_sheet("Secret")
    hidden.append(("b",))
    hidden.sheet_state = "hidden"
    document = read_spreadsheet(saved(workbook), "a.xlsx")
    assert document.metadata["hidden_sheets"] == ["Secret"]
    assert document.text.endswith("b")


def test_merged_cells_are_said_once() -> None:
    workbook = Workbook()
    workbook.active.append(("Group", None, "other"))
    workbook.active.append(("a", 1, 2))
    workbook.active.merge_cells("A1:B1")
    assert read_spreadsheet(saved(workbook), "a.xlsx").text.count("Group") == 1


def test_properties() -> None:
    workbook = Workbook()
    workbook.active.append(("a",))
    workbook.properties.title = "Quarterly figures"
    workbook.properties.creator = "Ann"
    document = read_spreadsheet(saved(workbook), "a.xlsx")
    assert document.title == "Quarterly figures"
    assert document.metadata["author"] == "Ann"


def test_a_chart_sheet_holds_no_cells() -> None:
    workbook = Workbook()
    workbook.active.append(("a",))
    chart = BarChart()
    chart.add_data(Reference(workbook.active, range_string="Sheet!A1:A1"))
    workbook.create_chartsheet("Chart").add_chart(chart)
    assert isinstance(workbook["Chart"], Chartsheet)
    assert read_spreadsheet(saved(workbook), "a.xlsx").text == "# Sheet\n\na"


def test_too_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheet, "_MOST_CELLS", 3)
    with pytest.raises(ReadError, match="too large: more than 3 cells"):
        text_of(("a", "b"), ("c", "d"))


def test_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheet, "_MOST_ROWS", 1)
    with pytest.raises(ReadError, match="damaged: Sheet has more rows"):
        text_of(("a",), ("b",))


def test_a_damaged_part_is_named() -> None:
    data = sheet_of(("a", "b"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, part[:100] if name.endswith("sheet1.xml") else part)
    with pytest.raises(ReadError, match="damaged: the workbook cannot be read"):
        read_spreadsheet(buffer.getvalue(), "a.xlsx")
