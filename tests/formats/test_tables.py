import pytest

from localrag.formats.builder import DocumentBuilder
from localrag.formats.delimited import read_delimited
from localrag.formats.grids import Row, names_columns, parts_of
from localrag.formats.tables import add_rows, markdown_rows, trimmed_rows
from localrag.records import Document


def rows(*texts: str) -> list[Row]:
    """Make rows of cells between bars; an empty text is a blank row."""
    found = []
    for number, text in enumerate(texts, 1):
        cells = tuple(cell.strip() for cell in text.split("|"))
        if any(cells):
            found.append(Row(number, cells, number))
    return found


def parts(*texts: str) -> list[tuple[str, tuple[str, ...], list[int]]]:
    return [
        ("table" if part.is_table else "text", part.header, [row.line for row in part.rows])
        for part in parts_of(rows(*texts))
    ]


def test_header_above_numbers() -> None:
    assert parts("name|sum", "a|1", "b|2") == [("table", ("name", "sum"), [2, 3])]


def test_header_of_two_rows_is_joined() -> None:
    found = parts("|Sales|Sales|Costs|Costs", "|2022|low|2023|high", "a|1|2|3|4", "b|1|2|3|4")
    assert found[0][1] == ("", "Sales", "Sales", "Costs", "Costs")
    found = parts("|Sales|Sales|Costs|Costs", "|old|new|old|new", *["a|1|2|3|4"] * 4)
    assert found == [
        ("table", ("", "Sales old", "Sales new", "Costs old", "Costs new"), [3, 4, 5, 6])
    ]


def test_header_of_texts() -> None:
    assert parts("name|town", "Ann|Bonn", "Bob|Rome") == [("table", ("name", "town"), [2, 3])]
    assert parts("yes|no", "no|yes") == [("table", (), [1, 2])]
    assert parts("1|2", "3|4") == [("table", (), [1, 2])]


def test_years_are_names() -> None:
    assert parts("name|2022|2023", "a|1|2", "b|3|4") == [
        ("table", ("name", "2022", "2023"), [2, 3])
    ]


def test_titles_and_remarks_are_text() -> None:
    found = parts("Report|", "", "name|sum", "a|1", "b|2", "", "A remark on all of it|")
    assert found == [("text", (), [1]), ("table", ("name", "sum"), [4, 5]), ("text", (), [7])]


def test_a_remark_right_below_a_table_is_text() -> None:
    remark = "(a) This remark is much longer than the names in the first column are."
    found = parts("name|sum", "a|1", "b|2", f"{remark}|")
    assert found[-1] == ("text", (), [4])
    assert parts("name|sum", "a|1", "b|2", "c|")[-1] == ("table", ("name", "sum"), [2, 3, 4])


def test_a_sparse_row_above_a_wide_header_is_a_title() -> None:
    found = parts("In millions||||2023|", "|a|b|c|d|e", "x|1|2|3|4|5", "y|1|2|3|4|5")
    assert found[0] == ("text", (), [1])
    assert found[1][1] == ("", "a", "b", "c", "d", "e")


def test_a_blank_row_parts_no_table() -> None:
    assert parts("name|sum", "a|1", "", "b|2") == [("table", ("name", "sum"), [2, 4])]
    assert parts("name|sum", "", "a|1", "b|2") == [("table", ("name", "sum"), [3, 4])]


def test_a_column_of_texts_is_text() -> None:
    assert parts("one", "two", "three") == [("text", (), [1, 2, 3])]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([["a", "b"], ["c", "d"]], True),
        ([["a", "b"]], False),
        ([["a", "a"], ["c", "d"]], False),
        ([["(i)", "b"], ["(ii)", "d"]], False),
        ([["a", "12.5%"], ["c", "d"]], False),
        ([["a", ""], ["c", "d"]], True),
        ([["", ""], ["c", "d"]], False),
        ([["a" * 201, "b"], ["c", "d"]], False),
    ],
)
def test_names_of_columns(cells: list[list[str]], *, expected: bool) -> None:
    assert names_columns(cells) is expected


def test_markdown_rows() -> None:
    assert markdown_rows([["a|b", "c\nd"], ["1"]], header=True) == (
        ["| a\\|b | c d |", "| --- | --- |", "| 1 |  |"],
        2,
    )
    assert markdown_rows([["a"]], header=False) == (["| a |"], 0)
    assert markdown_rows([], header=True) == ([], 0)
    assert trimmed_rows([["a", "", "b"], ["c"]]) == [["a", "b"], ["c", ""]]


def test_blank_tables_are_left_out() -> None:
    builder = DocumentBuilder()
    add_rows(builder, [["", " "], [""]], header=False)
    assert not builder.blocks


def read(text: str, uri: str = "a.csv", encoding: str = "utf-8") -> Document:
    return read_delimited(text.encode(encoding), uri)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(delimiter: str) -> None:
    text = "\n".join(delimiter.join(row) for row in (("name", "sum"), ("a", "1"), ("b, c", "2")))
    text = text if delimiter != "," else text.replace("b, c", '"b, c"')
    assert read(text).text == "| name | sum |\n| --- | --- |\n| a | 1 |\n| b, c | 2 |"


def test_a_tab_wins_a_draw_in_a_tsv_file() -> None:
    text = "a,b\tc\n1,2\t3\n"
    assert read(text, "x.tsv").text.startswith("| a,b | c |")
    assert read(text, "x.csv").text.startswith("| a | b c |")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp932"])
def test_encodings(encoding: str) -> None:
    assert "| 髙橋 | 12 |" in read("名前,年齢\n髙橋,12\nさとう,34\n", encoding=encoding).text


def test_lines_are_those_of_the_file() -> None:
    document = read('name,sum\n\n"a\nb",1\nc,2\n')
    lines = [document.line(document.text.index(text)) for text in ("name", "a b", "| c")]
    assert lines == [1, 3, 5]


def test_long_cells_become_records() -> None:
    text = "\n".join(f'{name},"{"A long text. " * 60}\n# not a heading",x' for name in "ab")
    document = read(f"name,text,\n{text}\n")
    headings = [block.heading for block in document.blocks if block.kind == "heading"]
    assert headings == ["a", "b"]
    record = document.blocks[1]
    lines = document.text[record.start : record.end].split("\n")
    assert lines[0].startswith("text: A long text.")
    assert lines[1:] == ["# not a heading", "x"]
    assert [document.line(block.start) for block in document.blocks] == [2, 2, 4, 4]


def test_records_without_a_key() -> None:
    text = "\n".join(f'same,"{"A long text. " * 60}"' for _ in "ab")
    document = read(f"name,text\n{text}\n")
    assert [block.kind for block in document.blocks] == ["paragraph", "paragraph"]
    assert document.text.startswith("name: same\ntext: A long text.")


def test_an_unclosed_quote_swallows_nothing() -> None:
    rest = "\n".join(f"row {number},{number}" for number in range(20_000))
    document = read(f'name,sum\n"open,1\n{rest}\n')
    assert document.text.count("\n") > 20_000
    assert '"open' in document.text


def test_a_row_beyond_all_measure_is_cut() -> None:
    document = read("a,b\n1,2\n" + "x" * 300_000)
    assert document.text.count("x") == 300_000


def test_one_column() -> None:
    assert [read("one\ntwo\n").text, read("").blocks] == ["one\n\ntwo", ()]
