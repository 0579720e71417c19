from hypothesis import given
from hypothesis import strategies as st

from localrag.formats.builder import DocumentBuilder, one_line
from localrag.text.sentences import sentence_spans


def shown(builder: DocumentBuilder) -> list[str]:
    document = builder.build("t", "text/x")
    return [document.text[block.start : block.end] for block in document.blocks]


def test_blocks_are_written_as_markdown() -> None:
    builder = DocumentBuilder()
    builder.heading("  A\n title ", 2, page=3)
    builder.paragraph("one \n\n two")
    builder.list_item("first\nmore")
    builder.list_item("second", marker="2.", depth=1)
    builder.code("\tx = 1\n\n", language="python")
    builder.table(["| a |", "| --- |", "| 1 |"], 2)
    document = builder.build("t", "text/x")
    assert document.text == (
        "## A title\n\none\ntwo\n\n- first\n  more\n  2. second\n\n"
        "```python\n    x = 1\n```\n\n| a |\n| --- |\n| 1 |"
    )
    heading, *_, table = document.blocks
    assert (heading.heading, heading.level, heading.page) == ("A title", 2, 3)
    assert table.header_rows == 2
    assert document.line(0) is None


def test_what_is_blank_is_no_block() -> None:
    builder = DocumentBuilder()
    builder.heading(" ", 1)
    builder.paragraph("\x00 \n")
    builder.list_item("")
    builder.code("\n \n")
    builder.table([], 0)
    builder.record([" "])
    assert builder.build("t", "text/x").blocks == ()


def test_a_fence_is_longer_than_those_inside() -> None:
    builder = DocumentBuilder()
    builder.code("```\na\n```")
    assert shown(builder) == ["````\n```\na\n```\n````"]


def test_levels_are_those_of_markdown() -> None:
    builder = DocumentBuilder()
    builder.heading("a", 0)
    builder.heading("b", 9, name="c")
    assert [(block.level, block.heading) for block in builder.blocks] == [(1, "a"), (6, "c")]


def test_a_heading_can_be_taken_back() -> None:
    builder = DocumentBuilder()
    builder.paragraph("a")
    builder.heading("b", 1)
    builder.discard_heading()
    builder.paragraph("c")
    assert shown(builder) == ["a", "c"]


def test_lines_of_the_source() -> None:
    builder = DocumentBuilder()
    builder.table(["| a |", "| --- |", "| 1 |", "| 2 |"], 2, lines=[1, 1, 2, 5])
    builder.record(["x: 1", "y: 2"], line=9)
    document = builder.build("t", "text/x")
    lines = [document.line(document.text.index(text)) for text in ("| a", "| 1", "| 2", "x", "y")]
    assert lines == [1, 2, 5, 9, 9]


def test_pages_are_parted_by_form_feeds() -> None:
    builder = DocumentBuilder()
    builder.paragraph("a", page=2)
    builder.list_item("b", page=2)
    builder.list_item("c", page=3)
    builder.paragraph("d\fd", page=6)
    builder.paragraph("e")
    document = builder.build("t", "text/x")
    assert document.text == "a\n\n- b\f\n- c\n\f\f\f\nd\nd\n\ne"
    spans = sentence_spans(document.text)
    assert [document.text[start:end] for start, end in spans] == ["a", "- b", "- c", "d\nd", "e"]


def test_one_line() -> None:
    assert one_line(" a\tb\x0bc\x00 \ufeffd\u00ad\n") == "a b c d"


@given(st.lists(st.tuples(st.sampled_from("hplct"), st.text(max_size=20)), max_size=8))
def test_only_blanks_lie_outside_blocks(parts: list[tuple[str, str]]) -> None:
    builder = DocumentBuilder()
    for kind, text in parts:
        match kind:
            case "h":
                builder.heading(text, 1)
            case "p":
                builder.paragraph(text)
            case "l":
                builder.list_item(text)
            case "c":
                builder.code(text)
            case _:
                builder.table([f"| {one_line(text)} |"], 0)
    document = builder.build("t", "text/x")
    position = 0
    for block in document.blocks:
        assert not document.text[position : block.start].strip()
        assert document.text[block.start : block.end].strip()
        position = block.end
    assert position == len(document.text)
    document.text.encode()
