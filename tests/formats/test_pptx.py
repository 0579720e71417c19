import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from localrag.errors import ReadError
from localrag.formats.containers import PPTX
from localrag.formats.pptx import read_pptx
from localrag.formats.registry import read_document
from localrag.records import Document

NewChartData: Any = CategoryChartData  # it has no types
TITLE_AND_CONTENT, TITLE_ONLY, BLANK = 1, 5, 6
BOX = (Inches(1), Inches(1), Inches(4), Inches(2))


def saved(presentation: Any) -> bytes:
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def changed(data: bytes, name: str, change: Callable[[str], str | None]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for one in old.namelist():
            text: str | bytes | None = old.read(one)
            if one == name:
                text = change(old.read(one).decode())
            if text is not None:
                new.writestr(one, text)
    return buffer.getvalue()


def deck() -> Any:
    presentation = Presentation()
    presentation.core_properties.title = "PowerPoint Presentation"
    presentation.core_properties.author = "Ann"
    first = presentation.slides.add_slide(presentation.slide_layouts[TITLE_AND_CONTENT])
    first.shapes.title.text = "Aims"
    body = first.placeholders[1].text_frame
    body.text = "one"
    for text, level in (("two", 0), ("deeper", 1)):
        paragraph = body.add_paragraph()
        paragraph.text, paragraph.level = text, level
    first.notes_slide.notes_text_frame.text = "Speak slowly"
    second = presentation.slides.add_slide(presentation.slide_layouts[BLANK])
    table = second.shapes.add_table(2, 2, *BOX).table
    for at, text in enumerate(("name", "sum", "a", "1")):
        table.cell(at // 2, at % 2).text = text
    return presentation


def test_slides_are_sections() -> None:
    document = read_document(saved(deck()), "x.pptx")
    assert document.media_type == PPTX
    assert document.text == (
        "# Aims\n\n- one\n- two\n  - deeper\n\nNotes: Speak slowly\n\f\n# Slide 2\n\n"
        "| name | sum |\n| --- | --- |\n| a | 1 |"
    )
    assert [block.page for block in document.blocks] == [1, 1, 1, 1, 1, 2, 2]
    assert document.title == "Aims"
    assert document.metadata["author"] == "Ann"


def one_slide(fill: Callable[[Any], None], layout: int = TITLE_ONLY) -> Document:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[layout])
    if slide.shapes.title is not None:
        slide.shapes.title.text = "Title"
    fill(slide)
    return read_pptx(saved(presentation), "a.pptx")


def text_of(fill: Callable[[Any], None]) -> str:
    return one_slide(fill).text.removeprefix("# Title").strip()


def test_charts_are_tables() -> None:
    def fill(slide: Any) -> None:
        data: Any = NewChartData()
        data.categories = ["2022", "2023"]
        data.add_series("Sales", (4.4, 2.0))
        frame = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *BOX, data)
        frame.chart.has_title = True
        frame.chart.chart_title.text_frame.text = "Sales by year"

    assert text_of(fill) == (
        "Sales by year\n\n|  | Sales |\n| --- | --- |\n| 2022 | 4.4 |\n| 2023 | 2 |"
    )


def test_text_boxes_groups_and_pictures() -> None:
    def fill(slide: Any) -> None:
        slide.shapes.add_textbox(*BOX).text_frame.text = "A remark\x0bof two lines"
        group = slide.shapes.add_group_shape()
        group.shapes.add_textbox(*BOX).text_frame.text = "In the group"
        shape = slide.shapes.add_textbox(*BOX)
        shape._element.nvSpPr.cNvPr.set("descr", "not a picture")

    assert text_of(fill) == "A remark\nof two lines\n\nIn the group"


def test_descriptions_of_pictures() -> None:
    def fill(slide: Any) -> None:
        data: Any = NewChartData()
        data.categories = ["a"]
        data.add_series("b", (1,))
        frame = slide.shapes.add_chart(XL_CHART_TYPE.PIE, *BOX, data)
        frame._element.nvGraphicFramePr.cNvPr.set("descr", "A red house")

    assert text_of(fill).endswith("[A red house]")


def test_merged_cells_are_said_once() -> None:
    def fill(slide: Any) -> None:
        table = slide.shapes.add_table(2, 2, *BOX).table
        for at, text in enumerate(("wide", "hidden", "a", "b")):
            table.cell(at // 2, at % 2).text = text
        table.cell(0, 0).merge(table.cell(0, 1))

    text = text_of(fill)
    assert "| a | b |" in text
    assert text.count("wide") == 1


def test_footers_and_numbers_are_left_out() -> None:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[TITLE_AND_CONTENT])
    slide.shapes.title.text = "Title"
    slide.placeholders[1].text_frame.text = "A single paragraph"
    footer = slide.shapes.add_textbox(*BOX)
    footer.text_frame.text = "Confidential"
    holder = footer._element.nvSpPr.find(
        "{http://schemas.openxmlformats.org/presentationml/2006/main}nvPr"
    )
    holder.append(
        holder.makeelement(
            "{http://schemas.openxmlformats.org/presentationml/2006/main}ph", {"type": "ftr"}
        )
    )
    assert read_pptx(saved(presentation), "a.pptx").text == "# Title\n\nA single paragraph"


def test_empty_slides_are_no_sections() -> None:
    assert one_slide(lambda _: None, BLANK).blocks == ()


def test_hidden_slides_are_noted() -> None:
    data = changed(
        saved(deck()),
        "ppt/slides/slide2.xml",
        lambda text: text.replace("<p:sld ", '<p:sld show="0" ', 1),
    )
    assert read_pptx(data, "a.pptx").metadata["hidden_slides"] == [2]


def test_bullets_outside_of_placeholders() -> None:
    def fill(slide: Any) -> None:
        frame = slide.shapes.add_textbox(*BOX).text_frame
        frame.text = "point"
        properties = frame.paragraphs[0]._p.get_or_add_pPr()
        properties.append(
            properties.makeelement(
                "{http://schemas.openxmlformats.org/drawingml/2006/main}buChar", {"char": "•"}
            )
        )

    assert text_of(fill) == "- point"


def wrapped(content: str) -> str:
    """Put content behind the last shape of the first slide."""
    data = changed(
        saved(deck()),
        "ppt/slides/slide1.xml",
        lambda text: text.replace("</p:spTree>", f"{content}</p:spTree>"),
    )
    return read_pptx(data, "a.pptx").text


def shape(text: str) -> str:
    return f"<p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"


def test_alternatives_are_read_once() -> None:
    namespace = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    choice, fallback = (
        f"<mc:Choice>{shape('new')}</mc:Choice>",
        f"<mc:Fallback>{shape('old')}</mc:Fallback>",
    )
    text = wrapped(f"<mc:AlternateContent {namespace}>{choice}{fallback}</mc:AlternateContent>")
    assert "new" in text
    assert "old" not in text
    unknown = f"<mc:Choice/>{fallback}"
    assert "old" in wrapped(f"<mc:AlternateContent {namespace}>{unknown}</mc:AlternateContent>")
    assert wrapped(f"<mc:AlternateContent {namespace}/>").startswith("# Aims")


def test_equations() -> None:
    math = (
        '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">'
        "<m:r><m:t>x=1</m:t></m:r></m:oMath>"
    )
    body = f"<p:sp><p:txBody><a:p><a:r><a:t>Let </a:t></a:r>{math}</a:p></p:txBody></p:sp>"
    assert "Let x=1" in wrapped(body)


def test_diagrams() -> None:
    diagram = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
    main = "http://schemas.openxmlformats.org/drawingml/2006/main"
    relationship = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    frame = f'<p:graphicFrame><dgm:relIds xmlns:dgm="{diagram}" r:dm="rId77"/></p:graphicFrame>'
    points = (
        f'<dgm:dataModel xmlns:dgm="{diagram}" xmlns:a="{main}"><dgm:pt><dgm:t><a:p><a:r>'
        "<a:t>A box of the diagram</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>"
    )
    data = changed(
        saved(deck()),
        "ppt/slides/slide1.xml",
        lambda text: text.replace("</p:spTree>", f"{frame}</p:spTree>"),
    )
    target = (
        f'<Relationship Id="rId77" Type="{relationship}/diagramData" Target="../diagrams/d.xml"/>'
    )
    data = changed(
        data,
        "ppt/slides/_rels/slide1.xml.rels",
        lambda text: text.replace("</Relationships>", f"{target}</Relationships>"),
    )
    assert "diagram" not in read_pptx(data, "a.pptx").text  # it refers to a part that is missing
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("ppt/diagrams/d.xml", points)
    assert "- A box of the diagram" in read_pptx(buffer.getvalue(), "a.pptx").text


def test_a_missing_slide_is_damage() -> None:
    data = changed(saved(deck()), "ppt/slides/slide2.xml", lambda _: None)
    with pytest.raises(ReadError, match="damaged: a slide is missing"):
        read_pptx(data, "a.pptx")
